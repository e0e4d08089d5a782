// SPDX-License-Identifier: GPL-2.0
/*
 * Branch tracer: how its entries are printed
 *
 * A branch is "FROM -> TO". Kernel addresses have their symbol; user addresses
 * are numbers, or, with sym-userobj, file and offset in the mapping, if the task
 * still has it.
 */

#define pr_fmt(fmt) "bts: " fmt

#include <linux/init.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>

#include <asm/sections.h>

#include "trace_bts.h"
#include "trace_output.h"

/*
 * The memory of the task that took the branch, if it is still there. Looking
 * a mapping up sleeps, and a dump after a crash must not.
 */
static struct mm_struct *bts_get_mm(struct trace_iterator *iter)
{
	struct task_struct *task;

	if (irqs_disabled())
		return NULL;

	guard(rcu)();
	task = find_task_by_pid_ns(iter->ent->pid, &init_pid_ns);
	return task ? get_task_mm(task) : NULL;
}

/* File and offset in the mapping, as user stack traces have it. */
static bool bts_print_file(struct trace_seq *s, struct mm_struct *mm,
			   unsigned long addr)
{
	struct vm_area_struct *vma;
	bool found;

	mmap_read_lock(mm);
	vma = vma_lookup(mm, addr);
	found = vma && vma->vm_file;
	if (found && trace_seq_path(s, file_user_path(vma->vm_file)))
		trace_seq_printf(s, "[+0x%lx]", addr - vma->vm_start);
	mmap_read_unlock(mm);
	return found;
}

/*
 * Where this kernel has what an address of the kernel's was when the buffer was
 * written: in a persistent one that may have been another boot, with the text
 * elsewhere (KASLR). Modules and the vsyscall page do not move with the text.
 */
static unsigned long bts_text_here(struct trace_array *tr, unsigned long addr)
{
	unsigned long here = addr + tr->text_delta;

	return is_kernel(here) ? here : addr;
}

static void bts_print_addr(struct trace_iterator *iter, struct mm_struct *mm,
			   unsigned long addr, unsigned long flags)
{
	struct trace_seq *s = &iter->seq;

	if (!bts_is_user(addr)) {
		seq_print_ip_sym(s, bts_text_here(iter->tr, addr),
				 flags | TRACE_ITER_SYM_OFFSET);
		return;
	}
	if (!mm || !bts_print_file(s, mm, addr))
		trace_seq_printf(s, "0x%lx", addr);
	else if (flags & TRACE_ITER_SYM_ADDR)
		trace_seq_printf(s, " <0x%lx>", addr);
}

static enum print_line_t bts_branch_print(struct trace_iterator *iter, int flags,
					  struct trace_event *event)
{
	struct trace_seq *s = &iter->seq;
	struct bts_branch_entry *field;
	struct mm_struct *mm = NULL;

	trace_assign_type(field, iter->ent);

	if (iter->tr->trace_flags & TRACE_ITER_SYM_USEROBJ)
		mm = bts_get_mm(iter);

	bts_print_addr(iter, mm, field->from, flags);
	trace_seq_puts(s, " -> ");
	bts_print_addr(iter, mm, field->to, flags);
	trace_seq_putc(s, '\n');

	if (mm)
		mmput(mm);
	return trace_handle_return(s);
}

static enum print_line_t bts_branch_raw(struct trace_iterator *iter, int flags,
					struct trace_event *event)
{
	struct bts_branch_entry *field;

	trace_assign_type(field, iter->ent);
	trace_seq_printf(&iter->seq, "%llx %llx\n", (u64)field->from,
			 (u64)field->to);
	return trace_handle_return(&iter->seq);
}

/* A branch in two words. Losses have two as well: 0 and how many. */
struct bts_words {
	unsigned long	from;
	unsigned long	to;
};

static struct bts_words bts_words(struct trace_iterator *iter)
{
	struct bts_branch_entry *branch;
	struct bts_lost_entry *lost;

	if (iter->ent->type == TRACE_BTS_LOST) {
		trace_assign_type(lost, iter->ent);
		return (struct bts_words){ .to = lost->count };
	}
	trace_assign_type(branch, iter->ent);
	return (struct bts_words){ .from = branch->from, .to = branch->to };
}

static enum print_line_t bts_hex(struct trace_iterator *iter, int flags,
				 struct trace_event *event)
{
	struct bts_words words = bts_words(iter);

	SEQ_PUT_HEX_FIELD(&iter->seq, words.from);
	SEQ_PUT_HEX_FIELD(&iter->seq, words.to);
	return trace_handle_return(&iter->seq);
}

static enum print_line_t bts_bin(struct trace_iterator *iter, int flags,
				 struct trace_event *event)
{
	struct bts_words words = bts_words(iter);

	SEQ_PUT_FIELD(&iter->seq, words);
	return trace_handle_return(&iter->seq);
}

static struct trace_event_functions bts_branch_funcs = {
	.trace		= bts_branch_print,
	.raw		= bts_branch_raw,
	.hex		= bts_hex,
	.binary		= bts_bin,
};

static struct trace_event bts_branch_event = {
	.type		= TRACE_BTS,
	.funcs		= &bts_branch_funcs,
};

static enum print_line_t bts_lost_print(struct trace_iterator *iter, int flags,
					struct trace_event *event)
{
	struct trace_seq *s = &iter->seq;
	struct bts_lost_entry *field;

	trace_assign_type(field, iter->ent);
	trace_seq_puts(s, "LOST ");
	if (field->count)
		trace_seq_printf(s, "%llu ", (u64)field->count);
	trace_seq_printf(s, "branches (%s)\n",
			 field->cause < BTS_LOST_CAUSES ?
			 bts_causes[field->cause].text : "unknown cause");
	return trace_handle_return(s);
}

static enum print_line_t bts_lost_raw(struct trace_iterator *iter, int flags,
				      struct trace_event *event)
{
	struct bts_lost_entry *field;

	trace_assign_type(field, iter->ent);
	trace_seq_printf(&iter->seq, "LOST %llu %u\n", (u64)field->count,
			 field->cause);
	return trace_handle_return(&iter->seq);
}

static struct trace_event_functions bts_lost_funcs = {
	.trace		= bts_lost_print,
	.raw		= bts_lost_raw,
	.hex		= bts_hex,
	.binary		= bts_bin,
};

static struct trace_event bts_lost_event = {
	.type		= TRACE_BTS_LOST,
	.funcs		= &bts_lost_funcs,
};

int __init bts_register_events(void)
{
	if (!register_trace_event(&bts_branch_event) ||
	    !register_trace_event(&bts_lost_event)) {
		pr_warn("cannot register the trace events\n");
		return -ENODEV;
	}
	return 0;
}
