// SPDX-License-Identifier: GPL-2.0
/*
 * The library and the main function of the bare-metal image.
 *
 * The output is KTAP on the debug console (port 0xe9). A line that starts with '@' is a request:
 * the host does not print this line, but performs the request, and sends an answer, which ends
 * with EOT, to COM1. The image writes the verdict, EXIT_PASSED or EXIT_FAILED, to
 * isa-debug-exit. If the emulator exits without a verdict, the host reports the machine as lost.
 *
 * CPU 0 runs the tests and prints the output. CPU 1 waits until CPU 0 has stored a function in
 * ap_fn. Then CPU 1 calls the function, and clears ap_fn after the call.
 */
#include <stdarg.h>

#include "bare.h"

#define EXIT_PASSED	0x10	/* the emulator's exit status is 2 * value + 1 */
#define EXIT_FAILED	0x11

#define COM1		0x3f8

bool failed;
char reply[8192];
static char cmdline[512];

/*
 * CPU 1 calls the function in ap_fn, and then sets ap_fn to NULL. When CPU 1 starts, it increments
 * ap_runs. CPU 0 polls both variables.
 */
static ap_function ap_fn;
u32 ap_runs;

void (*handlers[256])(struct frame *frame);
u64 (*pmi_handler)(u64 debugctl, struct frame *frame);

/* ---- output ---- */

static void put_char(char c)
{
	out8(c, 0xe9);
}

static void put_string(const char *s)
{
	while (*s)
		put_char(*s++);
}

static void put_number(u64 value, u32 base)
{
	char digits[24];
	int n = 0;

	do {
		digits[n++] = "0123456789abcdef"[value % base];
		value /= base;
	} while (value);
	while (n)
		put_char(digits[--n]);
}

/* Like vprintf(), but @fmt may contain only %s, %c, %%, %u and %x (u32), %lu and %lx (u64). */
static void vprint(const char *fmt, va_list ap)
{
	bool wide;

	for (; *fmt; fmt++) {
		if (*fmt != '%') {
			put_char(*fmt);
			continue;
		}
		wide = *++fmt == 'l';
		fmt += wide;
		if (*fmt == 's')
			put_string(va_arg(ap, const char *));
		else if (*fmt == 'c')
			put_char(va_arg(ap, int));
		else if (*fmt == '%')
			put_char('%');
		else
			put_number(wide ? va_arg(ap, u64) : va_arg(ap, u32),
				   *fmt == 'x' ? 16 : 10);
	}
}

void print(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vprint(fmt, ap);
	va_end(ap);
}

void fail(const char *fmt, ...)
{
	va_list ap;

	failed = true;
	put_string("# ");
	va_start(ap, fmt);
	vprint(fmt, ap);
	va_end(ap);
	put_char('\n');
}

static void __attribute__((noreturn)) leave(u32 code)
{
	for (;;)
		out32(code, 0xf4);
}

/* Even for a freestanding program, GCC generates calls to memcpy() and memset(). */
void *memcpy(void *to, const void *from, size_t n)
{
	void *start = to;

	asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
	return start;
}

void *memset(void *to, int c, size_t n)
{
	void *start = to;

	asm volatile("rep stosb" : "+D"(to), "+c"(n) : "a"(c) : "memory");
	return start;
}

static bool starts_with(const char *s, const char *prefix)
{
	while (*prefix && *s == *prefix) {
		s++;
		prefix++;
	}
	return !*prefix;
}

bool option(const char *word)
{
	const char *s;
	size_t n = 0;

	while (word[n])
		n++;
	for (s = cmdline; *s; s++) {
		if ((s == cmdline || s[-1] == ' ') && starts_with(s, word) &&
		    (!s[n] || s[n] == ' '))
			return true;
	}
	return false;
}

/* ---- the host ---- */

bool host_replied(void)
{
	return in8(COM1 + 5) & 1;
}

u8 read_character(void)
{
	while (!host_replied())
		cpu_pause();
	return in8(COM1);
}

static void read_reply(void)
{
	size_t n = 0;
	u8 c;

	for (;;) {
		c = read_character();
		if (c == EOT)
			break;
		if (n < sizeof(reply) - 1)
			reply[n++] = c;
	}
	reply[n] = 0;
}

/*
 * Print a request to the host, and wait for the answer. If @command is NULL, only wait for the
 * answer, because the caller has already printed the request.
 */
const char *host(const char *command)
{
	if (command)
		print("@%s\n", command);
	read_reply();
	return reply;
}

/* Return the counter @name of CPU @cpu from the output of `info bts`, which must contain it. */
u64 info_bts(u32 cpu, const char *name)
{
	const char *s = host("hmp info bts");
	u32 current = -1;
	u64 value = 0;
	size_t n = 0;
	u32 base = 10;

	while (name[n])
		n++;
	for (; *s; s++) {
		if (s != reply && s[-1] != '\n')
			continue;
		if (starts_with(s, "CPU "))
			current = s[4] - '0';
		while (*s == ' ')
			s++;
		if (current == cpu && starts_with(s, name) && s[n] == ':')
			goto found;
	}
	fail("the output of 'info bts' has no %s for CPU %u", name, cpu);
	return 0;
found:
	s += n + 1;
	while (*s == ' ')
		s++;
	if (starts_with(s, "0x")) {
		base = 16;
		s += 2;
	}
	for (; (*s >= '0' && *s <= '9') || (base == 16 && *s >= 'a' && *s <= 'f'); s++)
		value = value * base + (*s <= '9' ? *s - '0' : *s - 'a' + 10);
	return value;
}

/* ---- the window (WIN in bare.h): virtual pages that tests map ---- */

static u64 win_pdpt[512] PAGE_ALIGNED, win_pd[512] PAGE_ALIGNED;
static u64 win_pt[512] PAGE_ALIGNED;
static u64 second_pml4[512] PAGE_ALIGNED, second_pdpt[512] PAGE_ALIGNED;
static u64 second_pd[512] PAGE_ALIGNED, second_pt[512] PAGE_ALIGNED;

static void win_init(void)
{
	pml4[WIN >> 39] = (u64)win_pdpt | 7;
	win_pdpt[0] = (u64)win_pd | 7;
	win_pd[0] = (u64)win_pt | 7;
	memcpy(second_pml4, pml4, sizeof(second_pml4));
	second_pml4[WIN >> 39] = (u64)second_pdpt | 7;
	second_pdpt[0] = (u64)second_pd | 7;
	second_pd[0] = (u64)second_pt | 7;
	write_cr3(read_cr3());
}

void win_map(u32 page, const void *frame, u32 bits)
{
	win_pt[page] = bits & PTE_P ? (u64)frame | bits : 0;
	write_cr3(read_cr3());
}

void win_unmap_all(void)
{
	memset(win_pt, 0, sizeof(win_pt));
	write_cr3(read_cr3());
}

/* Copy the address space, map @frame at WIN_PAGE(@page) in the copy, and return the copy's CR3. */
u64 win_second_space(u32 page, const void *frame)
{
	memcpy(second_pt, win_pt, sizeof(second_pt));
	second_pt[page] = (u64)frame | PTE_P | PTE_W;
	return (u64)second_pml4;
}

/* ---- CPUs, interrupts ---- */

static struct tss {
	u32 reserved;
	u64 rsp[3], reserved1, ist[7], reserved2;
	u32 io_bitmap;
} __attribute__((packed, aligned(16))) tss[2];

static u8 rsp0_stacks[2][8192] __attribute__((aligned(16)));
static u8 fault_stacks[2][8192] __attribute__((aligned(16)));
static u8 nmi_stacks[2][8192] __attribute__((aligned(16)));
static struct {
	u64 lo, hi;
} idt[256] __attribute__((aligned(16)));

void set_gate(u32 vector, u64 address)
{
	bool dpl3 = vector == 3 || vector == 4 || vector == VEC_USER_EXIT ||
		    vector == VEC_INT || vector == VEC_TO_KERNEL;
	u64 ist = 0;

	if (vector == VEC_NMI)
		ist = 2;
	else if (vector == 8 || (vector >= 12 && vector <= 14))
		ist = 1;
	idt[vector].hi = address >> 32;
	idt[vector].lo = (address & 0xffff) | SEL_KCS64 << 16 | ist << 32 |
			 (dpl3 ? 0xeeULL : 0x8eULL) << 40 |
			 (address >> 16 & 0xffff) << 48;
}

u32 this_cpu(void)
{
	return apic_read(APIC_ID) >> 24;
}

void setup_cpu(u32 cpu)
{
	struct {
		u16 limit;
		u64 base;
	} __attribute__((packed)) idtr = { sizeof(idt) - 1, (u64)idt };
	u64 base = (u64)&tss[cpu];
	u32 sel = cpu ? SEL_TSS1 : SEL_TSS0;

	tss[cpu].rsp[0] = (u64)rsp0_stacks[cpu] + sizeof(rsp0_stacks[cpu]);
	tss[cpu].ist[0] = (u64)fault_stacks[cpu] + sizeof(fault_stacks[cpu]);
	tss[cpu].ist[1] = (u64)nmi_stacks[cpu] + sizeof(nmi_stacks[cpu]);
	tss[cpu].io_bitmap = sizeof(tss[cpu]);
	gdt[sel / 8] = (sizeof(tss[cpu]) - 1) | (base & 0xffffff) << 16 |
		       0x89ULL << 40 | (base >> 24 & 0xff) << 56;
	gdt[sel / 8 + 1] = base >> 32;
	asm volatile("lidt %0" : : "m"(idtr));
	asm volatile("ltr %w0" : : "r"(sel));
	apic_write(APIC_SVR, 0x1ff);
	apic_write(APIC_LVT_PC, LVT_MASKED);
}

void apic_ipi(u32 dest, u32 command)
{
	apic_write(APIC_ICR2, dest << 24);
	apic_write(APIC_ICR, command);
}

static void delay(u64 cycles)
{
	u64 start = rdtsc();

	while (rdtsc() - start < cycles)
		cpu_pause();
}

void ap_main(void)
{
	ap_function fn;

	setup_cpu(1);
	__atomic_add_fetch(&ap_runs, 1, __ATOMIC_SEQ_CST);
	for (;;) {
		fn = READ_ONCE(ap_fn);
		if (fn) {
			fn();
			WRITE_ONCE(ap_fn, NULL);
		}
		cpu_pause();
	}
}

static bool start_ap(void)
{
	u32 before = ap_runs;
	u32 tries = 1000;

	memcpy((void *)(u64)AP_TRAMPOLINE, ap_start, ap_end - ap_start);
	WRITE_ONCE(ap_fn, NULL);
	apic_ipi(1, 0x4500);
	delay(100000);
	apic_ipi(1, 0x4600 | AP_TRAMPOLINE >> 12);
	while (READ_ONCE(ap_runs) == before && tries--)
		delay(1000000);
	return READ_ONCE(ap_runs) != before;
}

/* Make CPU 1 call a function. If CPU 1 has not started yet, start it. */
void start_on_ap(ap_function fn)
{
	if (!ap_runs && !start_ap()) {
		print("Bail out! CPU 1 does not start\n");
		leave(EXIT_FAILED);
	}
	WRITE_ONCE(ap_fn, fn);
}

void wait_for_ap(void)
{
	while (READ_ONCE(ap_fn))
		cpu_pause();
}

void run_on_ap(ap_function fn)
{
	start_on_ap(fn);
	wait_for_ap();
}

/* Send CPU 1 an INIT, which aborts the function that CPU 1 is executing. Then restart CPU 1. */
void init_ap(void)
{
	if (!start_ap())
		fail("CPU 1 does not start again after INIT");
}

static u64 read_cr2(void)
{
	u64 v;

	asm volatile("mov %%cr2, %0" : "=r"(v));
	return v;
}

void unexpected(struct frame *frame)
{
	wrmsr(IA32_DEBUGCTL, 0);
	if (handlers[frame->vector]) {
		handlers[frame->vector](frame);
		return;
	}
	fail("vector %lu, error %lx at %lx:%lx, cr2 %lx", frame->vector,
	     frame->error, frame->cs, frame->rip, read_cr2());
	if (run_rsp)
		abandon_run();
	print("Bail out! an exception outside of a test body\n");
	leave(EXIT_FAILED);
}

u64 pmi_c(u64 debugctl, struct frame *frame)
{
	if (pmi_handler)
		return pmi_handler(debugctl, frame);
	fail("unexpected PMI at %lx", frame->rip);
	return 0;
}

/* ---- main ---- */

static void parse_cmdline(const u32 *multiboot)
{
	const char *s = (const char *)(u64)multiboot[4];
	size_t n;

	if (!(multiboot[0] & 4))
		return;
	for (n = 0; s[n] && n < sizeof(cmdline) - 1; n++)
		cmdline[n] = s[n];
}

static bool alone;		/* leave out every test that is not a TEST_ALONE test */

static void run_test(u32 number, const struct test *test, u32 i, u32 *failures)
{
	const char *skipped;

	failed = false;
	fixup = 0;
	run_rsp = 0;
	pmi_handler = NULL;
	skipped = test->fn(i);
	wrmsr(IA32_DEBUGCTL, 0);
	apic_write(APIC_LVT_PC, LVT_MASKED);
	*failures += failed;
	print("%s %u ", failed ? "not ok" : "ok", number);
	if (test->title)
		test->title(i);
	else
		print("%s", test->name);
	if (skipped)
		print(" # SKIP %s", skipped);
	put_char('\n');
}

static u32 test_count(const struct test *test)
{
	if (test->alone ? !option(test->alone) : alone)
		return 0;
	return test->count ? test->count() : 1;
}

/*
 * This structure survives a reset: QEMU keeps the contents of RAM and reloads only the image, which
 * ends below this address. The test "reset" resets the machine, and runs again after the reset.
 */
struct survivor *survivor = (struct survivor *)(64UL << 20);

/* The command line names the features of the machine, and selects the tests. */
static void parse_options(void)
{
	have_ds = !option("no-ds");
	have_ds_cpl = have_ds && !option("no-ds-cpl");
	have_ap = have_ds && option("smp");
	have_pmu = option("pmu");
	cpl_after = option("cpl-after");
	alone = option("only-migrate") || option("only-fault-stop") ||
		option("only-property") || option("only-no-apic") || option("only-cost");
}

static void setup_machine(void)
{
	u32 i;

	for (i = 0; i < 256; i++)
		set_gate(i, stub_table[i]);
	setup_cpu(0);
	/* Mask the legacy interrupt controllers, which use the same vectors as exceptions. */
	out8(0xff, 0x21);
	out8(0xff, 0xa1);
	win_init();
}

static u32 plan(void)
{
	const struct test *test;
	u32 number = 0;

	for (test = tests; test < tests_end; test++)
		number += test_count(test);
	return number;
}

/* On the first boot, print the plan. After a reset by the test "reset", resume the tests. */
static void begin(void)
{
	if (survivor->magic == SURVIVOR_RUNNING) {
		print("Bail out! the machine was reset\n");
		leave(EXIT_FAILED);
	}
	if (survivor->magic == SURVIVOR_RESET) {
		survivor->debugctl = rdmsr(IA32_DEBUGCTL);
		survivor->ds_area = rdmsr(IA32_DS_AREA);
	} else {
		print("KTAP version 1\n1..%u\n", plan());
		survivor->magic = SURVIVOR_RUNNING;
		survivor->test = 0;
		survivor->failures = 0;
	}
}

void c_main(const u32 *multiboot)
{
	const struct test *test;
	u32 number = 0;
	u32 failures, i;

	parse_cmdline(multiboot);
	parse_options();
	setup_machine();
	begin();
	failures = survivor->failures;
	for (test = tests; test < tests_end; test++) {
		for (i = 0; i < test_count(test); i++) {
			if (number++ < survivor->test)
				continue;
			survivor->test = number - 1;
			survivor->failures = failures;
			run_test(number, test, i, &failures);
			survivor->test = number;
		}
	}
	leave(failures ? EXIT_FAILED : EXIT_PASSED);
}
