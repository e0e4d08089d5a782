// SPDX-License-Identifier: GPL-2.0-only
/*
 * Check that the tool recognizes the system calls, interrupts and returns of a CPU with FRED. The
 * code and the branches are written by hand, because no test machine has FRED. Print KTAP.
 *
 * With FRED, system calls and interrupts in user space enter the kernel at the same address, and
 * the instructions erets and eretu return from the kernel.
 */
#include <stdio.h>

#include "flow/steps.h"
#include "symbols/object.h"

#define USER	0x1000
#define KERNEL	0xffffffff81000000
#define ENTRY	KERNEL
#define ERETU	(KERNEL + 1)
#define ERETS	(KERNEL + 5)
#define OTHER	(KERNEL + 9)
#define CLAC	(KERNEL + 10)

/* Two instructions: syscall and nop. */
static uint8_t user_code[] = { 0x0f, 0x05, 0x90 };
/* asm_fred_entrypoint_user: nop, eretu, erets. other: nop, clac. */
static uint8_t kernel_code[] = {
	0x90, 0xf3, 0x0f, 0x01, 0xca, 0xf2, 0x0f, 0x01, 0xca, 0x90, 0x0f, 0x01, 0xca,
};

static struct segment user_segment = { .vaddr = USER, .size = sizeof(user_code) };
static struct segment kernel_segment = { .vaddr = KERNEL, .size = sizeof(kernel_code) };

static struct object user = {
	.file = user_code, .file_size = sizeof(user_code), .code = &user,
	.segments = &user_segment, .nr_segments = 1,
};

static struct object kernel = {
	.file = kernel_code, .file_size = sizeof(kernel_code), .code = &kernel,
	.segments = &kernel_segment, .nr_segments = 1, .nr_syms = 2, .kernel = true, .as_run = true,
};

static struct sym program = {
	.addr = USER, .end = USER + sizeof(user_code), .name = "main", .object = &user,
};

static struct sym entry = {
	.addr = ENTRY, .end = OTHER, .name = "asm_fred_entrypoint_user", .object = &kernel,
};

static struct sym other = {
	.addr = OTHER, .end = KERNEL + sizeof(kernel_code), .name = "other", .object = &kernel,
};

static const struct {
	const char		*words;
	uint64_t		from;
	uint64_t		to;
	enum branch_kind	kind;
	bool			gap;
} tests[] = {
	{ "a system call",			USER, ENTRY, BRANCH_SYSCALL, false },
	{ "an interrupt in user space",		USER + 2, ENTRY, BRANCH_INTERRUPT, false },
	{ "eretu returns to user space",	ERETU, USER + 2, BRANCH_IRET, false },
	{ "erets returns to the kernel",	ERETS, OTHER, BRANCH_IRET, false },
	{ "clac is not a return",		CLAC, USER + 2, BRANCH_INTERRUPT, true },
};

static struct place place_at(uint64_t addr)
{
	struct sym *sym = addr < KERNEL ? &program : addr < OTHER ? &entry : &other;

	return (struct place) { .sym = sym, .addr = addr };
}

int main(void)
{
	int failed = 0, total = sizeof(tests) / sizeof(tests[0]);

	printf("TAP version 13\n1..%d\n", total);
	for (int i = 0; i < total; i++) {
		struct step s = { .from = tests[i].from, .to = tests[i].to };
		bool bad;

		s.start = s.from;
		s.at_start = place_at(s.start);
		s.at_from = place_at(s.from);
		s.at_to = place_at(s.to);
		step_resolve(&s, true);
		bad = s.kind != tests[i].kind || !!(s.flags & STEP_GAP) != tests[i].gap;
		printf("%sok %d FRED: %s\n", bad ? "not " : "", i + 1, tests[i].words);
		failed += bad;
	}
	return failed != 0;
}
