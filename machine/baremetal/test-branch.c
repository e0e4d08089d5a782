// SPDX-License-Identifier: GPL-2.0
/*
 * Run each test body of branches.S, far.S and interrupts.S with every setting of the filters, at
 * each CPL for which the body exists. Each body runs twice at its link address, because QEMU chains
 * a body's translated blocks only in the second run. Most bodies then run a third time, through the
 * second mapping (ALIAS).
 */
#include "bare.h"

static u8 user_stack[16384] __attribute__((aligned(16)));
static struct branch wanted[64];

static const u32 filters[] = {
	0, DEBUGCTL_BTS_OFF_OS, DEBUGCTL_BTS_OFF_USR,
	DEBUGCTL_BTS_OFF_OS | DEBUGCTL_BTS_OFF_USR,
};

static u64 shift(const struct body *body, u64 address, u64 alias)
{
	return address >= body->fn && address <= body->end ? address + alias : address;
}

static void want(u64 *n, u64 debugctl, struct branch branch)
{
	if (model_stores(debugctl, &branch))
		wanted[(*n)++] = branch;
}

/* Call this after the body has run, because frame_rip then contains the interrupted RIP. */
static u64 expected_records(const struct body *body, u64 debugctl, u64 alias, bool user)
{
	const struct branch enter = { (u64)user_enter, body->fn + alias, 0, 3 };
	const struct branch leave = { body->end + alias, (u64)stub_64, 3, 0 };
	const struct branch *e;
	struct branch branch;
	u64 n = 0;

	if (user)
		want(&n, debugctl, enter);
	for (e = body->expect; e < body->expect_end; e++) {
		branch = *e;
		branch.from = e->from ? shift(body, e->from, alias) : frame_rip;
		branch.to = shift(body, e->to, alias);
		want(&n, debugctl, branch);
	}
	if (user)
		want(&n, debugctl, leave);
	return n;
}

static void run_body(const struct body *body, u64 flags, u64 alias, bool user)
{
	u64 rflags = 2 | (flags & BT_USER_IF ? 0x200 : 0);

	if (flags & BT_IRQ)
		apic_ipi(0, 0x44000 | VEC_IRQ);
	/* With BT_USER_IF, the interrupt comes before the body can set `fixup`, so set it here. */
	if (flags & BT_USER_IF)
		fixup = body->expect[1].to + alias;
	if (user)
		run_user(body->fn + alias, (u64)user_stack + sizeof(user_stack) - 4096,
			 rflags);
	else
		run_kernel(body->fn + alias);
	run_rsp = 0;
	fixup = 0;
	if (flags & BT_IRQ)
		apic_write(APIC_EOI, 0);
}

static void check_body(const struct body *body, u64 flags, u64 debugctl, u64 alias,
		       bool user)
{
	u32 smis = READ_ONCE(smm_count);
	u64 n;

	ds_default();
	run_debugctl = debugctl;
	run_body(body, flags, alias, user);
	smis = READ_ONCE(smm_count) - smis;
	CHECK(smis == !!(flags & BT_SMI), "%u SMIs", smis);
	n = expected_records(body, debugctl, alias, user);
	compare(wanted, n, records, ds_count(&ds0));
	if (failed)
		print("# at CPL %u with DEBUGCTL %lx, body at %lx\n", user ? 3 : 0,
		      debugctl, body->fn + alias);
}

/*
 * Copy the SMI handler to the address that SeaBIOS has chosen for SMM. SeaBIOS does not lock the
 * SMRAM register (0x72) of the i440fx host bridge, so a write to this register makes the memory at
 * 0xa0000 accessible. A write to port 0xb2 raises an SMI, because SeaBIOS has enabled this SMI.
 */
void install_smm_handler(void)
{
	out32(0x80000070, 0xcf8);
	out8(0x4a, 0xcfe);
	memcpy((void *)0xa8000, smm_handler, smm_handler_end - smm_handler);
	out8(0x0a, 0xcfe);
}

static void setup_syscalls(void)
{
	wrmsr(IA32_STAR, (u64)SEL_UCS32 << 48 | (u64)SEL_KCS64 << 32);
	wrmsr(IA32_LSTAR, (u64)syscall_entry);
	wrmsr(IA32_FMASK, 0x200);
	wrmsr(IA32_SYSENTER_CS, SEL_KCS64);
	wrmsr(IA32_SYSENTER_ESP, (u64)user_stack + 4096);
	wrmsr(IA32_SYSENTER_EIP, (u64)sysenter_entry);
}

static void check_both_places(const struct branch_test *t, u64 debugctl)
{
	const struct body *body;
	u32 user, round;

	for (user = 0; user < 2; user++) {
		body = user ? &t->user : &t->kernel;
		if (!body->fn)
			continue;
		for (round = 0; round < 2 && !failed; round++)
			check_body(body, t->flags, debugctl, 0, user);
		if (!(t->flags & BT_NO_ALIAS) && !failed)
			check_body(body, t->flags, debugctl, ALIAS, user);
	}
}

static const char *branch_test(u32 number)
{
	const struct branch_test *t = &branch_tests[number];
	u32 i;

	if (!have_ds)
		return NO_DS;
	setup_syscalls();
	if (t->flags & BT_SMI)
		install_smm_handler();
	for (i = 0; i < (have_ds_cpl ? ARRAY_SIZE(filters) : 1) && !failed; i++)
		check_both_places(t, TR_BTS | filters[i]);
	return NULL;
}

static u32 branch_count(void)
{
	return branch_tests_end - branch_tests;
}

static void branch_title(u32 i)
{
	print("branch: %s", branch_tests[i].name);
}

TEST_ENTRY(branches, .fn = branch_test, .count = branch_count, .title = branch_title);

/*
 * Test all 32 combinations of TR, BTS, BTINT, OFF_OS and OFF_USR at CPL 0 and at CPL 3.
 * BTINT must make no difference, because the buffer never fills up.
 */
static const char *row_test(u32 row)
{
	u32 debugctl = row * DEBUGCTL_TR;

	if (!have_ds)
		return NO_DS;
	if (!(have_ds_cpl || !(debugctl & (DEBUGCTL_BTS_OFF_OS | DEBUGCTL_BTS_OFF_USR))))
		return "no ds_cpl";
	check_both_places(branch_tests, debugctl);
	return NULL;
}

static u32 row_count(void)
{
	return 32;
}

static void row_title(u32 row)
{
	print("TR %u BTS %u BTINT %u OFF_OS %u OFF_USR %u", row & 1, row >> 1 & 1,
	      row >> 2 & 1, row >> 3 & 1, row >> 4 & 1);
}

TEST_ENTRY(rows, .fn = row_test, .count = row_count, .title = row_title);
