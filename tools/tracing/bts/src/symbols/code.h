/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Decode the instructions of a straight run, and the branch at its end.
 *
 * Included by: symbols/, flow/, diff/, why/.
 */
#ifndef BTS_CODE_H
#define BTS_CODE_H

#include "object.h"

enum insn_kind {
	INSN_NONE,		/* the bytes are missing or cannot be decoded */
	INSN_OTHER,		/* not a branch */
	INSN_COND,
	INSN_JUMP,
	INSN_JUMP_IND,
	INSN_CALL,
	INSN_CALL_IND,
	INSN_RET,
	INSN_SYSCALL,
	INSN_SYSRET,
	INSN_INT,
	INSN_IRET,
	INSN_FAR,
};

/* The result of code_run(). */
enum run_verdict {
	RUN_DONE,		/* a straight run leads from @start to @end */
	RUN_IMPOSSIBLE,		/* no straight run leads from @start to @end */
	RUN_UNKNOWN,		/* bytes are missing or cannot be decoded */
};

/**
 * struct run - a straight run (only its last instruction may be a taken branch)
 * @insns:	number of instructions before the last instruction
 * @kind:	kind of the last instruction
 * @length:	length of the last instruction
 * @target:	target of the last instruction, or 0 if it is not encoded in the instruction
 */
struct run {
	uint32_t	insns;
	enum insn_kind	kind;
	uint32_t	length;
	uint64_t	target;
};

enum run_verdict code_run(struct object *o, uint64_t start, uint64_t end, struct run *run);

/* Call @each for each instruction of a run, except for the last instruction. */
void code_each(struct object *o, uint64_t start, uint64_t end,
	       void (*each)(void *ctx, uint64_t addr, uint32_t length), void *ctx);

/*
 * Report whether the instruction at the address is a nop that the kernel may patch. Static keys
 * replace such a nop with a jump. ftrace and static calls replace such a nop with a call.
 */
bool code_patchable(struct object *o, uint64_t addr);

/*
 * Find the first branch at or after @addr that is not a conditional jump. If this branch is a
 * system call, return the address of the branch. Otherwise, return 0.
 */
uint64_t code_system_call(struct object *o, uint64_t addr);

/* Report whether the system call at the address is rt_sigreturn() or sigreturn(). */
bool code_is_sigreturn(struct object *o, uint64_t addr);
/* Report whether the code at the address calls (rt_)sigreturn() to end a signal handler. */
bool code_ends_handler(struct object *o, uint64_t addr);

/* Report whether the instruction at the address loads or stores the constant @number. */
bool code_loads(struct object *o, uint64_t addr, int32_t number);

/* Find an instruction's kind and branch target. Return the length in bytes, or 0 if unknown. */
uint32_t code_insn(struct object *o, uint64_t addr, enum insn_kind *kind, uint64_t *target);

#endif
