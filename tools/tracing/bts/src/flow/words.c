// SPDX-License-Identifier: GPL-2.0-only
/*
 * Places, kinds of branches, losses and rows as text, the same for all commands.
 */
#include <stdio.h>

#include "pipeline.h"

const char *const bts_kind_names[BTS_KINDS] = {
	[BTS_UNKNOWN]	= "?",
	[BTS_COND]	= "jcc",
	[BTS_JUMP]	= "jmp",
	[BTS_JUMP_IND]	= "jmp*",
	[BTS_CALL]	= "call",
	[BTS_CALL_IND]	= "call*",
	[BTS_RET]	= "ret",
	[BTS_SYSCALL]	= "syscall",
	[BTS_SYSRET]	= "sysret",
	[BTS_IRET]	= "iret",
	[BTS_INTERRUPT]	= "interrupt",
	[BTS_FAR]	= "far",
	[BTS_EXIT]	= "exit",
};

const char *const bts_cause_names[BTS_CAUSES] = {
	"ring buffer full", "DS buffer full", "DS buffer wrapped", "ring buffer paused",
	"BTS switched off", "recording stops", "BTS does not work", "overwritten",
};

int bts_place_text(char *buffer, size_t size, const struct bts_place *place, uint64_t addr)
{
	const struct sym *s = place->sym;

	if (s != &s->object->whole)
		return snprintf(buffer, size, "%s+0x%llx", s->name,
				(unsigned long long)(place->addr - s->addr));
	if (s->object->path[0] && !s->object->kernel)
		return snprintf(buffer, size, "%s+0x%llx", s->object->name,
				(unsigned long long)place->addr);
	return snprintf(buffer, size, "0x%llx", (unsigned long long)addr);
}

/* As sched_switch has it. */
static const char *state_text(unsigned int state, char *buffer, size_t size)
{
	static const char letters[] = "SDTtXZPI";
	size_t used = 0;

	for (unsigned int i = 0; i < 8 && used + 2 < size; i++)
		if (state & (1U << i))
			buffer[used++] = letters[i];
	if (!used)
		buffer[used++] = 'R';
	if (state & 0x100)
		buffer[used++] = '+';
	buffer[used] = 0;
	return buffer;
}

static void address_text(struct bts_pipe *pipe, struct bts_task *task, uint64_t addr, char *buffer,
			 size_t size)
{
	struct bts_place place;

	if (!task || !addr) {
		snprintf(buffer, size, "%#llx", (unsigned long long)addr);
		return;
	}
	place = bts_place(pipe, task, addr);
	bts_place_text(buffer, size, &place, addr);
}

const char *row_text(struct bts_pipe *pipe, struct bts_task *task, const struct bts_row *row)
{
	static char text[2304];
	char user[1024], other[1024], state[16];

	switch (row->type) {
	case BTS_ROW_LOST:
		if (row->count)
			snprintf(text, sizeof(text), "LOST %llu branches (%s)",
				 (unsigned long long)row->count, bts_cause_names[row->cause]);
		else
			snprintf(text, sizeof(text), "LOST branches (%s)",
				 bts_cause_names[row->cause]);
		return text;
	case BTS_ROW_GAP:
		if (!row->to)
			return "GAP (the loss on this CPU may be this task's)";
		address_text(pipe, task, row->from, user, sizeof(user));
		address_text(pipe, task, row->to, other, sizeof(other));
		snprintf(text, sizeof(text), "GAP (no way from %s to %s)", user, other);
		return text;
	case BTS_ROW_DEPARTS:
		address_text(pipe, task, row->user_ip, user, sizeof(user));
		address_text(pipe, task, row->kernel_ip, other, sizeof(other));
		snprintf(text, sizeof(text), "departs %s state=%s user_ip=%s kernel_ip=%s",
			 row->voluntary ? "voluntary" : "preempted",
			 state_text(row->state, state, sizeof(state)), user, other);
		return text;
	case BTS_ROW_ARRIVES:
		address_text(pipe, task, row->user_ip, user, sizeof(user));
		snprintf(text, sizeof(text), "arrives user_ip=%s", user);
		return text;
	default:
		return row->text;
	}
}
