/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Code: which instructions a straight run has, and which branch ends it.
 *
 * Included by: symbols/, flow/, why/.
 */
#ifndef BTS_CODE_H
#define BTS_CODE_H

#include "object.h"

/* What the instruction at the end of a block is. */
enum insn_kind {
	INSN_NONE,		/* there are no bytes, or none that can be decoded */
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

/* A run that the code can have taken; one that it cannot; code that is not known. */
enum run_verdict {
	RUN_DONE,
	RUN_IMPOSSIBLE,
	RUN_UNKNOWN,
};

/**
 * struct run - a straight run
 * @insns:	instructions before the last one
 * @kind:	of the last one, at the run's end
 * @length:	of the last one
 * @target:	where that leads, if it says so itself
 */
struct run {
	uint32_t	insns;
	enum insn_kind	kind;
	uint32_t	length;
	uint64_t	target;
};

enum run_verdict code_run(struct object *o, uint64_t start, uint64_t end, struct run *run);

/* Calls @each for each instruction of a run, the one at its end excepted. */
void code_each(struct object *o, uint64_t start, uint64_t end,
	       void (*each)(void *ctx, uint64_t addr, uint32_t length), void *ctx);

/*
 * Is there one of the nops that the kernel puts in place of a jump (static keys) or a call
 * (ftrace, static calls)?
 */
bool code_patchable(struct object *o, uint64_t addr);

/* The system call to which the code leads if no jump is taken; 0 if there is none. */
uint64_t code_system_call(struct object *o, uint64_t addr);

/* Does a system call at the address end a signal's handler? The number is loaded before it. */
bool code_is_sigreturn(struct object *o, uint64_t addr);
/* Does the code from the address on do nothing else? */
bool code_ends_handler(struct object *o, uint64_t addr);

/* Does the instruction at the address put the number into a register or into memory? */
bool code_loads(struct object *o, uint64_t addr, int32_t number);

/* Length and kind of the instruction at the address; 0 if it is not known. */
uint32_t code_insn(struct object *o, uint64_t addr, enum insn_kind *kind, uint64_t *target);

#endif
