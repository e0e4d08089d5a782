// SPDX-License-Identifier: GPL-2.0-only
/*
 * Convert the branches of a thread to blocks for gdb.
 *
 * An interrupt or a fault is recorded as a branch from the interrupted instruction, which was not
 * executed. The block before the interrupt must end with the last executed instruction. But the
 * trace contains only the addresses "begin" and "cut_end", not the address "last":
 *
 *	begin ... last | cut_end ...	the interrupt came before the instruction at cut_end
 *
 * Because "last" is unknown, the block remains open until the thread continues. Usually, the thread
 * continues at cut_end, and the block continues, too. Otherwise (for example after a signal), the
 * block ends with the instruction before cut_end. To find this instruction, decode the block.
 *
 * After a thread's last block, add a block that contains only the instruction at the PC. gdb treats
 * this instruction as the current instruction, which has not been executed yet. If the last block
 * is still open and the PC is cut_end, the last block and the added block both end with this
 * instruction. (If this instruction caused a fault, the CPU had already begun to execute it.)
 */
#include <stdlib.h>

#include "gdb.h"

static void push(struct gdb_thread *t, size_t window, uint64_t begin, uint64_t end)
{
	if (t->pushed == t->room && t->room < window) {
		t->room = t->room ? 2 * t->room : 256;
		if (t->room > window)
			t->room = window;
		t->blocks = mem_realloc(t->blocks, t->room, sizeof(*t->blocks));
	}
	t->blocks[t->pushed++ % t->room] = (struct gdb_block) { begin, end };
}

/* Find the instruction before @end in the straight run from @begin. */
static uint64_t insn_before(const struct place *at, uint64_t begin, uint64_t end)
{
	uint64_t bias = end - at->addr, last = begin;
	enum branch_kind kind;

	for (uint64_t addr = begin; addr < end;) {
		uint32_t length = branch_kind_at(at->sym->object, addr - bias, &kind);

		last = addr;
		if (!length)
			break;
		addr += length;
	}
	return last;
}

/* End the open block, because the thread did not continue at the interrupted instruction. */
static void end_cut(struct gdb_thread *t, size_t window)
{
	if (t->cut_begin && t->cut_begin < t->cut_end)
		push(t, window, t->cut_begin, insn_before(&t->cut_at, t->cut_begin, t->cut_end));
	t->cut_begin = 0;
}

static void add_run(struct gdb_thread *t, const struct step *s, size_t window)
{
	uint64_t begin = s->flags & STEP_GAP ? s->from : s->start;

	if (t->cut_begin && s->start == t->cut_end)
		begin = t->cut_begin;
	else
		end_cut(t, window);
	t->cut_begin = 0;
	if (s->kind == BRANCH_INTERRUPT) {
		t->cut_begin = begin;
		t->cut_end = s->from;
		t->cut_at = s->at_from;
		t->pc = s->from;
		return;
	}
	push(t, window, begin, s->from);
	/* If gdb does not show the kernel, the PC stays here while the thread is in the kernel. */
	t->pc = s->from + s->length;
}

void gdb_add_step(struct gdb_thread *t, const struct step *s, size_t window, bool kernel)
{
	if (kernel || !is_kernel(s->from))
		add_run(t, s, window);
	if (kernel || !is_kernel(s->to))
		t->pc = s->to;
}

void gdb_add_gap(struct gdb_thread *t, size_t window)
{
	end_cut(t, window);
	push(t, window, 1, 0);
}

void gdb_clear_blocks(struct gdb_thread *t)
{
	t->pushed = 0;
	t->cut_begin = 0;
	t->pc = 0;
}

void gdb_end_blocks(struct gdb_thread *t, size_t window)
{
	if (t->cut_begin && t->pc == t->cut_end) {
		push(t, window, t->cut_begin, t->cut_end);
		t->cut_begin = 0;
	}
	end_cut(t, window);
	if (t->pc)
		push(t, window, t->pc, t->pc);
}

size_t gdb_nr_blocks(const struct gdb_thread *t)
{
	return t->pushed < t->room ? t->pushed : t->room;
}

struct gdb_block gdb_block_before(const struct gdb_thread *t, size_t nth)
{
	return t->blocks[(t->pushed - 1 - nth) % t->room];
}

bool gdb_is_gap(struct gdb_block block)
{
	return block.end < block.begin;
}
