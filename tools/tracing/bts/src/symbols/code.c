// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decode straight runs through code, with the kernel's instruction decoder.
 *
 *	start ..... jcc ........ jcc ... call	a run of three blocks to the call;
 *	[ block 1 ][  block 2  ][  block 3   ]	neither jcc was taken
 *
 * A block contains the code from an address to the next branch instruction. Each block is decoded
 * once, and stored in the object's table. Long code without branches is cut into several blocks. A
 * run leads from the target of a taken branch to the next taken branch. If a run has several
 * blocks, the conditional jumps between them were not taken. A run cannot pass an unconditional
 * branch, and cannot end inside an instruction. If a run seems to do so, a record is missing or
 * wrong. If the trace contains only branches within user space, a run can pass a system call.
 */
#include <stdlib.h>
#include <string.h>

#include <asm/insn.h>

#include "lib/mem.h"
#include "code.h"

/**
 * struct block - code up to a branch instruction
 * @addr:	address of the block
 * @target:	target of the branch, or 0 if it is not encoded in the instruction
 * @size:	bytes before the branch instruction
 * @insns:	instructions before the branch instruction
 * @length:	length of the branch instruction
 * @kind:	kind of the branch instruction; INSN_NONE if bytes are missing or cannot be
 *		decoded; INSN_OTHER if the block was cut before a branch
 * @used:	this slot of the table is in use
 */
struct block {
	uint64_t	addr;
	uint64_t	target;
	uint32_t	size;
	uint32_t	insns;
	uint8_t		length;
	uint8_t		kind;
	bool		used;
};

/* Cut blocks at multiples of this size, so that two runs in the same code can share blocks. */
#define BLOCK_MAX	(1U << 16)
#define BLOCKS_MIN	1024

/* FRED's instructions erets and eretu are encoded as clac with the prefix F2 or F3. */
static bool is_fred_return(const struct insn *insn)
{
	uint8_t last = insn->prefixes.bytes[3];

	return insn->modrm.bytes[0] == 0xca && (last == 0xf2 || last == 0xf3);
}

static enum insn_kind kind_0f(const struct insn *insn)
{
	switch (insn->opcode.bytes[1]) {
	case 0x01:
		return is_fred_return(insn) ? INSN_IRET : INSN_OTHER;
	case 0x05:
	case 0x34:
		return INSN_SYSCALL;
	case 0x07:
	case 0x35:
		return INSN_SYSRET;
	case 0x80 ... 0x8f:
		return INSN_COND;
	}
	return INSN_OTHER;
}

static enum insn_kind kind_ff(const struct insn *insn)
{
	switch (X86_MODRM_REG(insn->modrm.bytes[0])) {
	case 2:
		return INSN_CALL_IND;
	case 4:
		return INSN_JUMP_IND;
	case 3:
	case 5:
		return INSN_FAR;
	}
	return INSN_OTHER;
}

static enum insn_kind kind_of(struct insn *insn)
{
	/* A branch instruction never has a VEX, EVEX or XOP prefix. */
	if (insn->vex_prefix.nbytes)
		return INSN_OTHER;
	switch (insn->opcode.bytes[0]) {
	case 0x0f:
		return kind_0f(insn);
	case 0x70 ... 0x7f:
	case 0xe0 ... 0xe3:
		return INSN_COND;
	case 0xe8:
		return INSN_CALL;
	case 0xe9:
	case 0xeb:
		return INSN_JUMP;
	case 0xc2:
	case 0xc3:
		return INSN_RET;
	case 0x9a:
	case 0xea:
	case 0xca:
	case 0xcb:
		return INSN_FAR;
	case 0xcd:
	case 0xce:
		return INSN_INT;
	case 0xcf:
		return INSN_IRET;
	case 0xff:
		return kind_ff(insn);
	}
	return INSN_OTHER;
}

static uint32_t decode(const struct object *o, const uint8_t *bytes, size_t size,
		       enum insn_kind *kind, int64_t *offset)
{
	struct insn insn;

	insn_init(&insn, bytes, size < MAX_INSN_SIZE ? size : MAX_INSN_SIZE, !o->bits32);
	if (insn_get_length(&insn) || !insn.length || insn.length > size)
		return 0;
	*kind = kind_of(&insn);
	*offset = insn.immediate.value;
	return insn.length;
}

static bool has_target(enum insn_kind kind)
{
	return kind == INSN_COND || kind == INSN_JUMP || kind == INSN_CALL;
}

uint32_t code_insn(struct object *o, uint64_t addr, enum insn_kind *kind, uint64_t *target)
{
	const uint8_t *bytes;
	uint32_t length = 0;
	int64_t offset;
	size_t size;

	bytes = object_bytes(o, addr, &size);
	if (bytes)
		length = decode(o->code, bytes, size, kind, &offset);
	if (!length)
		*kind = INSN_NONE;
	*target = length && has_target(*kind) ? addr + length + offset : 0;
	return length;
}

bool code_patchable(struct object *o, uint64_t addr)
{
	static const uint8_t nop2[] = { 0x66, 0x90 }, nop5[] = { 0x0f, 0x1f, 0x44, 0, 0 };
	const uint8_t *bytes;
	size_t size;

	bytes = object_bytes(o, addr, &size);
	return bytes && ((size >= sizeof(nop2) && !memcmp(bytes, nop2, sizeof(nop2))) ||
			 (size >= sizeof(nop5) && !memcmp(bytes, nop5, sizeof(nop5))));
}

/*
 * Compilers load a constant with "mov", with "add" (if the register already contains 0) or with
 * "and" (if it contains -1). They also use "or" to load -1. But if the operand of "add" or "and" is
 * a typical mask, assume no load: for example, -16 aligns an address, and -17 clears a bit.
 */
static bool is_load(const struct insn *insn, int32_t number)
{
	bool mask = number == -(number & -number) || !(~number & (~number - 1));

	switch (insn->opcode.bytes[0]) {
	case 0x05:
	case 0x25:
		return !mask;
	case 0xb8 ... 0xbf:
	case 0xc7:
		return true;
	case 0x81:
	case 0x83:
		switch (X86_MODRM_REG(insn->modrm.bytes[0])) {
		case 0:
		case 4:
			return !mask;
		case 1:
			return number == -1;
		}
	}
	return false;
}

bool code_loads(struct object *o, uint64_t addr, int32_t number)
{
	const uint8_t *bytes;
	struct insn insn;
	size_t size;

	o = o->code;
	bytes = object_bytes(o, addr, &size);
	if (!bytes)
		return false;
	insn_init(&insn, bytes, size < MAX_INSN_SIZE ? size : MAX_INSN_SIZE, !o->bits32);
	return !insn_get_length(&insn) && !insn.vex_prefix.nbytes &&
	       insn.immediate.value == number && is_load(&insn, number);
}

static void decode_block(struct object *o, uint64_t addr, struct block *b)
{
	uint32_t cut = BLOCK_MAX - addr % BLOCK_MAX;
	const uint8_t *bytes;
	enum insn_kind kind;
	uint32_t length;
	int64_t offset;
	size_t size;

	*b = (struct block) { .addr = addr, .used = true };
	bytes = object_bytes(o, addr, &size);
	while (bytes && b->size < size && b->size < cut) {
		length = decode(o->code, bytes + b->size, size - b->size, &kind, &offset);
		if (!length)
			return;
		if (kind != INSN_OTHER) {
			b->kind = kind;
			b->length = length;
			if (has_target(kind))
				b->target = addr + b->size + length + offset;
			return;
		}
		b->size += length;
		b->insns++;
	}
	if (bytes && b->size < size)
		b->kind = INSN_OTHER;
}

static size_t slot(const struct object *o, uint64_t addr)
{
	size_t mask = o->blocks_room - 1, i = (addr * 0x9e3779b97f4a7c15ULL >> 32) & mask;

	while (o->blocks[i].used && o->blocks[i].addr != addr)
		i = (i + 1) & mask;
	return i;
}

static void more_blocks(struct object *o)
{
	struct block *old = o->blocks;
	size_t room = o->blocks_room;

	o->blocks_room = room ? 2 * room : BLOCKS_MIN;
	o->blocks = mem_zalloc(o->blocks_room, sizeof(*o->blocks));
	for (size_t i = 0; i < room; i++)
		if (old[i].used)
			o->blocks[slot(o, old[i].addr)] = old[i];
	free(old);
}

static const struct block *block_at(struct object *o, uint64_t addr)
{
	size_t i;

	if (2 * o->nr_blocks >= o->blocks_room)
		more_blocks(o);
	i = slot(o, addr);
	if (!o->blocks[i].used) {
		decode_block(o, addr, &o->blocks[i]);
		o->nr_blocks++;
	}
	return &o->blocks[i];
}

/* Decode a run whose end is inside a block. The cause is an interrupt or a wrong record. */
static enum run_verdict run_within(struct object *o, uint64_t addr, uint64_t end, struct run *run)
{
	enum insn_kind kind;
	uint64_t target;

	while (addr < end) {
		uint32_t length = code_insn(o, addr, &kind, &target);

		if (!length)
			return RUN_UNKNOWN;
		addr += length;
		run->insns++;
	}
	if (addr != end)
		return RUN_IMPOSSIBLE;
	run->length = code_insn(o, end, &run->kind, &run->target);
	return run->length ? RUN_DONE : RUN_UNKNOWN;
}

static bool starts_with_one(const char *name, const char *const *starts, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (!strncmp(name, starts[i], strlen(starts[i])))
			return true;
	return false;
}

/*
 * Report whether the branch may call the tracer. The tracer's own branches are not recorded, so
 * the run seems to continue after the call.
 */
static bool calls_tracer(struct object *o, uint64_t addr, const struct block *b)
{
	static const char *const callers[] = {
		"__traceiter_", "__flush_smp_call_function_queue", "irq_work_single",
		"smp_call_function_many_cond",
	};
	static const char *const callees[] = { "__ds_bts_", "__bts_", "bts_" };

	if (b->kind == INSN_CALL_IND)
		return starts_with_one(object_sym(o, addr)->name, callers,
				       ARRAY_SIZE(callers));
	return b->kind == INSN_CALL &&
	       starts_with_one(object_sym(o, b->target)->name, callees,
			       ARRAY_SIZE(callees));
}

/* Report whether a run may continue after the branch at the end of the block. */
static bool goes_on(struct object *o, uint64_t addr, const struct block *b)
{
	if (b->kind == INSN_COND)
		return true;
	if (o->user_only && (b->kind == INSN_SYSCALL || b->kind == INSN_INT))
		return true;
	if (!o->kernel)
		return false;
	/* When the code ran, this jump (static key) or call (ftrace) may have been a nop. */
	return calls_tracer(o, addr, b) ||
	       ((b->kind == INSN_JUMP || b->kind == INSN_CALL) &&
		object_changed(o, addr + b->size, b->length));
}

enum run_verdict code_run(struct object *o, uint64_t start, uint64_t end, struct run *run)
{
	o = o->code;
	*run = (struct run) {};
	if (end < start)
		return RUN_IMPOSSIBLE;
	for (uint64_t addr = start;;) {
		const struct block *b = block_at(o, addr);

		if (end < addr)
			return RUN_IMPOSSIBLE;
		if (end - addr < b->size)
			return run_within(o, addr, end, run);
		if (b->kind == INSN_NONE)
			return RUN_UNKNOWN;
		run->insns += b->insns;
		if (b->kind == INSN_OTHER) {
			addr += b->size;
			continue;
		}
		if (end - addr == b->size) {
			run->kind = b->kind;
			run->length = b->length;
			run->target = b->target;
			return RUN_DONE;
		}
		if (!goes_on(o, addr, b))
			return RUN_IMPOSSIBLE;
		run->insns++;
		addr += b->size + b->length;
	}
}

uint64_t code_system_call(struct object *o, uint64_t addr)
{
	const struct block *b;

	o = o->code;
	for (b = block_at(o, addr); b->kind == INSN_COND || b->kind == INSN_OTHER;
	     b = block_at(o, addr))
		addr += b->size + b->length;
	return b->kind == INSN_SYSCALL || b->kind == INSN_INT ? addr + b->size : 0;
}

void code_each(struct object *o, uint64_t start, uint64_t end,
	       void (*each)(void *ctx, uint64_t addr, uint32_t length), void *ctx)
{
	enum insn_kind kind;
	uint64_t target;

	while (start < end) {
		uint32_t length = code_insn(o, start, &kind, &target);

		if (!length)
			return;
		each(ctx, start, length);
		start += length;
	}
}

/*
 * Report whether the instruction before @addr loads the system call number of rt_sigreturn() or
 * sigreturn(). When a signal handler returns, the C library or the vDSO executes this instruction.
 */
bool code_is_sigreturn(struct object *o, uint64_t addr)
{
	static const uint8_t codes[][7] = {
		{ 0x48, 0xc7, 0xc0, 15, 0, 0, 0 }, { 0, 0, 0xb8, 15, 0, 0, 0 },
		{ 0, 0, 0xb8, 173, 0, 0, 0 }, { 0, 0, 0xb8, 119, 0, 0, 0 },
	};
	bool bits32 = o->code->bits32;
	const uint8_t *bytes;
	size_t size;

	bytes = object_bytes(o, addr - sizeof(codes[0]), &size);
	if (!bytes || size < sizeof(codes[0]))
		return false;
	for (size_t i = bits32 ? 2 : 0; i < (bits32 ? 4 : 2); i++) {
		size_t skip = codes[i][0] ? 0 : 2;

		if (!memcmp(bytes + skip, codes[i] + skip, sizeof(codes[0]) - skip))
			return true;
	}
	return false;
}

/*
 * The instruction that loads the system call's number is 7 or 5 bytes long. In 32-bit code, a
 * one-byte pop instruction may precede the load.
 */
bool code_ends_handler(struct object *o, uint64_t addr)
{
	return code_is_sigreturn(o, addr + 7) || code_is_sigreturn(o, addr + 5) ||
	       (o->code->bits32 && code_is_sigreturn(o, addr + 6));
}
