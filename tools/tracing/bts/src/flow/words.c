// SPDX-License-Identifier: GPL-2.0-only
/*
 * Convert addresses, branch kinds, losses and rows to the text that all commands use.
 */
#include <stdio.h>

#include "private.h"

const char *const branch_kind_names[BRANCH_KINDS] = {
	[BRANCH_UNKNOWN]	= "?",
	[BRANCH_COND]	= "jcc",
	[BRANCH_JUMP]	= "jmp",
	[BRANCH_JUMP_IND]	= "jmp*",
	[BRANCH_CALL]	= "call",
	[BRANCH_CALL_IND]	= "call*",
	[BRANCH_RET]	= "ret",
	[BRANCH_SYSCALL]	= "syscall",
	[BRANCH_SYSRET]	= "sysret",
	[BRANCH_IRET]	= "iret",
	[BRANCH_INTERRUPT]	= "interrupt",
	[BRANCH_FAR]	= "far",
	[BRANCH_EXIT]	= "exit",
};

int place_text(char *buffer, size_t size, const struct place *place, uint64_t addr)
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

/* Use the state letters of the sched_switch event. */
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

static void address_text(struct pipe *pipe, struct task *task, uint64_t addr, char *buffer,
			 size_t size)
{
	struct place place;

	if (!task || !addr) {
		snprintf(buffer, size, "%#llx", (unsigned long long)addr);
		return;
	}
	place = place_find(pipe, task, addr);
	place_text(buffer, size, &place, addr);
}

/* LOSS_ROWS means that the lost rows were switches or mappings, not branches. */
static void lost_text(const struct row *row, char *buffer, size_t size)
{
	bool rows = row->cause == LOSS_ROWS;
	const char *what = rows ? loss_cause_names[LOSS_ROWS] : "branches";
	const char *why = rows ? "ring buffer full" : loss_cause_names[row->cause];

	if (row->count)
		snprintf(buffer, size, "LOST %llu %s (%s)", (unsigned long long)row->count, what,
			 why);
	else
		snprintf(buffer, size, "LOST %s (%s)", what, why);
}

const char *row_text(struct pipe *pipe, struct task *task, const struct row *row)
{
	char user[1024], other[1024], state[16];
	const size_t size = sizeof(pipe->private->text);
	char *text = pipe->private->text;

	switch (row->type) {
	case ROW_LOST:
		lost_text(row, text, size);
		return text;
	case ROW_GAP:
		if (!row->to)
			return "GAP (the loss on this CPU may include branches of this task)";
		address_text(pipe, task, row->from, user, sizeof(user));
		address_text(pipe, task, row->to, other, sizeof(other));
		snprintf(text, size, "GAP (no path from %s to %s)", user, other);
		return text;
	case ROW_DEPARTS:
		address_text(pipe, task, row->user_ip, user, sizeof(user));
		address_text(pipe, task, row->kernel_ip, other, sizeof(other));
		snprintf(text, size, "departs %s state=%s user_ip=%s kernel_ip=%s",
			 row->voluntary ? "voluntary" : "preempted",
			 state_text(row->state, state, sizeof(state)), user, other);
		return text;
	case ROW_ARRIVES:
		address_text(pipe, task, row->user_ip, user, sizeof(user));
		snprintf(text, size, "arrives user_ip=%s", user);
		return text;
	case ROW_SIGNAL:
		address_text(pipe, task, row->to, user, sizeof(user));
		address_text(pipe, task, row->from, other, sizeof(other));
		snprintf(text, size, "SIGNAL to %s, at or after %s%s", user, other,
			 row->inferred ? " (inferred)" : "");
		return text;
	case ROW_SIGRETURN:
		return "SIGRETURN (inferred)";
	default:
		return row->text;
	}
}
