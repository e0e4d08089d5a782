/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Declarations for the bare-metal image: MSRs and their bits, the functions of boot.S, and the
 * small library lib.c. The script `run` describes the messages between the image and the host.
 */
#ifndef BARE_H
#define BARE_H

/* Segment selectors, in the order that syscall/sysret and sysenter/sysexit require. */
#define SEL_KCS64	0x08
#define SEL_KDS		0x10
#define SEL_UCS32	0x1b
#define SEL_UDS		0x23
#define SEL_UCS64	0x2b
#define SEL_UDS2	0x33
#define SEL_UCS32_BASED	0x3b
#define SEL_TSS0	0x40
#define SEL_TSS1	0x50

/* The base of the code segment SEL_UCS32_BASED, in which the linear address is EIP + CS_BASE. */
#define CS_BASE		0x10000

#define BIT(n)			(1U << (n))

#define IA32_MISC_ENABLE	0x1a0
#define IA32_DEBUGCTL		0x1d9
#define IA32_DS_AREA		0x600
#define IA32_SYSENTER_CS	0x174
#define IA32_MCG_STATUS		0x17a
#define IA32_SYSENTER_ESP	0x175
#define IA32_SYSENTER_EIP	0x176
#define IA32_PMC0		0xc1
#define IA32_PERFEVTSEL0	0x186
#define IA32_FIXED_CTR0		0x309
#define IA32_FIXED_CTR_CTRL	0x38d
#define IA32_GLOBAL_STATUS	0x38e
#define IA32_GLOBAL_CTRL	0x38f
#define IA32_GLOBAL_OVF_CTRL	0x390
#define IA32_EFER		0xc0000080
#define IA32_STAR		0xc0000081
#define IA32_LSTAR		0xc0000082
#define IA32_FMASK		0xc0000084

#define DEBUGCTL_LBR		BIT(0)
#define DEBUGCTL_BTF		BIT(1)
#define DEBUGCTL_TR		BIT(6)
#define DEBUGCTL_BTS		BIT(7)
#define DEBUGCTL_BTINT		BIT(8)
#define DEBUGCTL_BTS_OFF_OS	BIT(9)
#define DEBUGCTL_BTS_OFF_USR	BIT(10)
#define TR_BTS			(DEBUGCTL_TR | DEBUGCTL_BTS)

#define MISC_BTS_UNAVAIL	BIT(11)
#define MISC_PEBS_UNAVAIL	BIT(12)

#define VEC_DB		1
#define VEC_NMI		2
#define VEC_GP		13
#define VEC_PF		14
#define VEC_USER_EXIT	0x40	/* `int` at the end of a test body at CPL 3 */
#define VEC_INT		0x41	/* for `int n` tests; DPL 3 */
#define VEC_TO_KERNEL	0x42	/* a test body uses this `int` to go from CPL 3 to CPL 0; DPL 3 */
#define VEC_DPL0	0x43	/* a gate that CPL 3 may not use */
#define VEC_PMI		0x50	/* a PMI that is delivered as an ordinary interrupt */
#define VEC_IRQ		0x51	/* self-IPI */

/* A second mapping of the low 4 GiB, at negative addresses. */
#define ALIAS		0xffffff8000000000

/* The window: 512 virtual pages of 4 KiB, which tests map with win_map() (lib.c). */
#define WIN		0x10000000000
#define WIN_PAGE(n)	(WIN + (n) * 4096UL)

#define RECORD_SIZE	24
#define USER_LOOPS	1000
#define TAIL_JUMPS	8
#define LATE_BEFORE	34	/* number of jumps in late_body() before it writes the BTS index */
#define LATE_AFTER	64	/* number of jumps in late_body() after it writes the BTS index */

#define AP_TRAMPOLINE	0x8000

/* Flags of a branch test. */
#define BT_NO_ALIAS	1	/* do not run the body in the second mapping (ALIAS) */
#define BT_IRQ		2	/* a self-IPI is pending when the test starts */
#define BT_USER_IF	4	/* the body at CPL 3 runs with interrupts enabled */
#define BT_SMI		8	/* the test raises an SMI */

#ifndef __ASSEMBLER__

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef void (*ap_function)(void);

/* Access a word that an interrupt handler, another CPU or a device may access at the same time. */
#define READ_ONCE(x)		__atomic_load_n(&(x), __ATOMIC_SEQ_CST)
#define WRITE_ONCE(x, value)	__atomic_store_n(&(x), value, __ATOMIC_SEQ_CST)

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define PAGE_ALIGNED	__attribute__((aligned(4096)))

/* A taken branch of a test body. The macro BR emits this structure into the section .expect. */
struct branch {
	u64 from;	/* 0: the branch begins at the interrupted RIP */
	u64 to;
	u64 cpl_from;
	u64 cpl_to;
};

struct body {
	u64 fn;			/* 0 if the test does not exist at this CPL */
	u64 end;
	const struct branch *expect;
	const struct branch *expect_end;
};

/* A branch test. The macros of body.h emit this structure into the section .branch_tests. */
struct branch_test {
	const char *name;
	struct body kernel;
	struct body user;
	u64 flags;
};

struct record {
	u64 from, to, flags;
};

struct ds_area {
	u64 base, index, maximum, threshold;
	u64 pebs[8];
};

/* The stack layout once pmi_entry or a stub's slow path has pushed the registers. */
struct frame {
	u64 r15, r14, r13, r12, r11, r10, r9, r8, rbp, rdi, rsi, rbx;
	u64 rdx, rcx, rax, vector, error, rip, cs, rflags, rsp, ss;
};

/* boot.S */
extern u64 fixup, frame_rip, run_rsp, run_debugctl;
extern u64 pml4[512];
extern char user_loop[], user_loop_branch[];
extern char user_enter[], stub_64[], stub_2[], pmi_iret[];
extern const char ap_start[], ap_end[];
int run_kernel(u64 fn);
int run_user(u64 fn, u64 rsp, u64 rflags);
void abandon_run(void);		/* does not return */
int wrmsr_safe(u32 msr, u64 value);
int rdmsr_safe(u32 msr, u64 *value);
int rdpmc_safe(u32 counter, u64 *value);
void walk(u64 count, u64 seed, u64 debugctl);
u64 fib(u64 n);
extern char walk_end[];
extern const u64 walk_mul, walk_add;
extern const struct pad {
	u64 start, jmp, jz;
} pads[64];
extern u64 gdt[];
extern const u64 stub_table[256];
extern char pmi_entry[], syscall_entry[], sysenter_entry[];

/* body.h, interrupts.S */
extern const struct branch_test branch_tests[], branch_tests_end[];
extern const char smm_handler[], smm_handler_end[];
extern u32 smm_count;

/* property.S */
void late_body(u64 debugctl, u64 *index, u64 value);

/* test-branch.c */
void install_smm_handler(void);

/* lib.c: hardware */
static inline void out8(u8 value, u32 port)
{
	asm volatile("outb %0, %w1" : : "a"(value), "Nd"(port));
}

static inline u8 in8(u32 port)
{
	u8 value;

	asm volatile("inb %w1, %0" : "=a"(value) : "Nd"(port));
	return value;
}

static inline void out32(u32 value, u32 port)
{
	asm volatile("outl %0, %w1" : : "a"(value), "Nd"(port));
}

static inline u32 in32(u32 port)
{
	u32 value;

	asm volatile("inl %w1, %0" : "=a"(value) : "Nd"(port));
	return value;
}

static inline void wrmsr(u32 msr, u64 value)
{
	asm volatile("wrmsr" : : "c"(msr), "a"((u32)value), "d"(value >> 32) : "memory");
}

static inline u64 rdmsr(u32 msr)
{
	u32 lo, hi;

	asm volatile("rdmsr" : "=a"(lo), "=d"(hi) : "c"(msr) : "memory");
	return lo | (u64)hi << 32;
}

static inline void cpuid(u32 leaf, u32 *a, u32 *b, u32 *c, u32 *d)
{
	asm volatile("cpuid" : "=a"(*a), "=b"(*b), "=c"(*c), "=d"(*d) : "a"(leaf), "c"(0));
}

static inline u64 rdtsc(void)
{
	u32 lo, hi;

	asm volatile("rdtsc" : "=a"(lo), "=d"(hi));
	return lo | (u64)hi << 32;
}

static inline void cpu_pause(void)
{
	asm volatile("pause" : : : "memory");
}

static inline u64 read_cr3(void)
{
	u64 v;

	asm volatile("mov %%cr3, %0" : "=r"(v));
	return v;
}

static inline void write_cr3(u64 v)
{
	asm volatile("mov %0, %%cr3" : : "r"(v) : "memory");
}

static inline u64 read_cr0(void)
{
	u64 v;

	asm volatile("mov %%cr0, %0" : "=r"(v));
	return v;
}

static inline void write_cr0(u64 v)
{
	asm volatile("mov %0, %%cr0" : : "r"(v) : "memory");
}

#define APIC_ID		0x20
#define APIC_EOI	0xb0
#define APIC_SVR	0xf0
#define APIC_ICR	0x300
#define APIC_ICR2	0x310
#define APIC_LVT_TIMER	0x320
#define APIC_LVT_PC	0x340
#define APIC_TIMER_COUNT	0x380
#define APIC_TIMER_DIVIDE	0x3e0
#define TIMER_DIVIDE_1	0xb
#define LVT_MASKED	BIT(16)
#define LVT_NMI		(4 << 8)

static inline u32 apic_read(u32 reg)
{
	return READ_ONCE(*(u32 *)(0xfee00000UL + reg));
}

static inline void apic_write(u32 reg, u32 value)
{
	WRITE_ONCE(*(u32 *)(0xfee00000UL + reg), value);
}

/* Page table bits for win_map(). */
#define PTE_P		1
#define PTE_W		2
#define PTE_U		4

void win_map(u32 page, const void *frame, u32 bits);
void win_unmap_all(void);
u64 win_second_space(u32 page, const void *frame);
void setup_cpu(u32 cpu);
void set_gate(u32 vector, u64 address);
void init_ap(void);
u32 this_cpu(void);
void apic_ipi(u32 dest, u32 command);
void run_on_ap(ap_function fn);
void start_on_ap(ap_function fn);
void wait_for_ap(void);
extern u32 ap_runs;

/* The C handlers, by vector. The stub of a vector calls the handler only if `fixup` is 0. */
extern void (*handlers[256])(struct frame *frame);

/* The C handler of PMIs. `debugctl` is the value of DEBUGCTL at the PMI. Return the new value. */
extern u64 (*pmi_handler)(u64 debugctl, struct frame *frame);

/* lib.c: functions of the standard C library that GCC and the tests call */
void *memcpy(void *to, const void *from, size_t n);
void *memset(void *to, int c, size_t n);

/* lib.c: reporting */
void print(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
bool option(const char *word);
extern bool failed;		/* true if the running test has failed */
extern char reply[8192];
const char *host(const char *command);
bool host_replied(void);
#define EOT	4		/* this character ends each answer from the host */
u8 read_character(void);
u64 info_bts(u32 cpu, const char *name);

#define CHECK(cond, fmt, ...)						\
	do {								\
		if (!(cond))						\
			fail("%s: " fmt, #cond, ##__VA_ARGS__);		\
	} while (0)

/*
 * fn() returns NULL or, if it has skipped the test, the reason. If `count` is set, this structure
 * describes several tests, and count() returns their number. fn(i) runs test i, title(i) prints its
 * name.
 */
struct test {
	const char *name;
	const char *(*fn)(u32 i);
	u32 (*count)(void);
	void (*title)(u32 i);
	const char *alone;	/* the test runs only if the command line contains this word */
};

#define TEST_ENTRY(id, ...)						\
	static const struct test entry_##id				\
	__attribute__((section(".tests"), used, aligned(8))) = { __VA_ARGS__ }

#define TEST(id, text)		TEST_ALONE(id, NULL, text)

#define TEST_ALONE(id, word, text)					\
	static const char *test_##id(u32 i);				\
	TEST_ENTRY(id, .name = text, .fn = test_##id, .alone = word);	\
	static const char *test_##id(u32 unused __attribute__((unused)))

extern const struct test tests[], tests_end[];

/* Reasons to skip a test. */
#define NO_DS	"no Debug Store"
#define NO_AP	"one CPU"
#define NO_PMU	"no PMU"

/* ds.c: the Debug Store buffers of the tests */
extern bool have_ds, have_ds_cpl, have_ap, have_pmu, cpl_after;
extern struct record records[];
#define MAX_RECORDS	4096
void ds_set(struct ds_area *ds, void *base, u64 max, u64 threshold);
void ds_default(void);
u64 ds_count(const struct ds_area *ds);
extern struct ds_area ds0;
bool model_stores(u64 debugctl, const struct branch *branch);
void compare(const struct branch *expect, u64 n_expect, const struct record *got,
	     u64 n_got);

/* The state from which ds.c predicts the next branch of walk() in boot.S. */
struct walk {
	u64 left;
	u64 state;
	u32 pad;
};

void walk_start(struct walk *walk, u64 count, u64 seed);
struct branch walk_next(struct walk *walk);
bool walk_check(struct walk *walk, const struct record *got, u64 n);

/* The state of the test "reset". The boot after the reset does not overwrite this state. */
#define SURVIVOR_RUNNING	0x42545372756e6e69	/* no reset is expected */
#define SURVIVOR_RESET		0x4254537265736574	/* the test has requested a reset */

struct survivor {
	u64 magic;
	u32 test, failures;
	u64 debugctl, ds_area;	/* MSR values right after the reset */
};

extern struct survivor *survivor;

#endif /* __ASSEMBLER__ */
#endif
