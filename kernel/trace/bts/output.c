// SPDX-License-Identifier: GPL-2.0
/*
 * Branch tracer: print the tracer's entries
 *
 * A branch is printed as "FROM -> TO", with kernel addresses as symbols and user addresses
 * as numbers. With sym-userobj, user addresses are printed as file and offset, if the task
 * still has the mapping.
 *
 * A persistent ring buffer may be damaged, or another kernel may have written it. So the
 * size and the format of an entry are checked before its fields are read. Unreadable
 * entries are printed as losses.
 */

#define pr_fmt(fmt) "bts: " fmt

#include <linux/init.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>

#include <asm/sections.h>
#include <kunit/visibility.h>

#include "bts.h"
#include "unpack.h"
#include "../trace_output.h"

#define BTS_NO_NUMBER	U64_MAX

/**
 * struct bts_rows - an iterator's state for printing packs and losses
 * @decoder:	decodes packs
 * @branch:	the decoded branches of the current pack
 * @nr:		the number of branches in @branch
 * @gone:	the number of branches that are missing before the current entry
 * @ts:		the current entry's time
 * @seq:	the current entry's sequence number
 * @cpu:	the current entry's CPU
 * @type:	the current entry's type
 * @buffer:	the ring buffers that the iterator has read (two if a snapshot has swapped them)
 * @next:	for each CPU in each of the ring buffers, the expected sequence number of the next
 *		branch. It is 0 before the first entry, and BTS_NO_NUMBER after an entry without
 *		a sequence number.
 */
struct bts_rows {
	struct bts_decoder	decoder;
	struct bts_pair		branch[BTS_PACK_MAX];
	unsigned int		nr;
	u64			gone;
	u64			ts;
	u64			seq;
	int			cpu;
	unsigned int		type;
	struct trace_buffer	*buffer[2];
	u64			next[];
};

/* A dump cannot allocate the state of its iterator, so bts_prepare_dump() allocates this state. */
static struct bts_rows *bts_dump_rows;

static size_t bts_rows_size(void)
{
	return struct_size_t(struct bts_rows, next, 2 * nr_cpu_ids);
}

static struct bts_rows *bts_alloc_rows(void)
{
	return kvzalloc(bts_rows_size(), GFP_KERNEL);
}

/**
 * bts_prepare_dump - allocate the state for a later dump, which itself cannot allocate memory
 *
 * Context: process context, trace_types_lock held.
 * Return: 0 or -ENOMEM.
 */
int bts_prepare_dump(void)
{
	if (!bts_dump_rows)
		bts_dump_rows = bts_alloc_rows();
	return bts_dump_rows ? 0 : -ENOMEM;
}

/* Return the state of @iter, or NULL if the state cannot be allocated. */
static struct bts_rows *bts_rows(struct trace_iterator *iter)
{
	if (iter->rows)
		return iter->rows;
	if (!irqs_disabled()) {
		iter->rows = bts_alloc_rows();
	} else if (bts_dump_rows) {
		iter->rows = bts_dump_rows;
		memset(bts_dump_rows, 0, bts_rows_size());
	}
	return iter->rows;
}

/*
 * Return the number of branches that are missing before a pack or a loss. For a CPU's first pack
 * or loss, @next is 0. In this case, if entries have been overwritten and no entry has been read,
 * all earlier branches are missing.
 */
static u64 bts_gone(struct trace_iterator *iter, u64 next, u64 seq)
{
	struct trace_buffer *buffer = iter->array_buffer->buffer;

	if (next)
		return seq > next ? seq - next : 0;
	if (!ring_buffer_overrun_cpu(buffer, iter->cpu) ||
	    ring_buffer_read_events_cpu(buffer, iter->cpu))
		return 0;
	return seq;
}

/*
 * Return a pointer to the expected sequence number of the next branch. A snapshot swaps two ring
 * buffers. trace_pipe then reads the other ring buffer, which has its own sequence numbers.
 */
static u64 *bts_next(struct trace_iterator *iter, struct bts_rows *rows)
{
	struct trace_buffer *buffer = iter->array_buffer->buffer;
	unsigned int i = rows->buffer[0] && rows->buffer[0] != buffer;
	u64 *next = rows->next + i * nr_cpu_ids;

	if (rows->buffer[i] != buffer)
		memset(next, 0, nr_cpu_ids * sizeof(*next));
	rows->buffer[i] = buffer;
	return &next[iter->cpu];
}

/* Report whether the entry contains all of its fields and is not too long. */
static bool bts_is_whole(const struct trace_iterator *iter)
{
	switch (iter->ent->type) {
	case TRACE_BTS_PACK:
		return iter->ent_size >= BTS_PACK_HEAD && iter->ent_size <= BTS_ENTRY_MAX;
	case TRACE_BTS_LOST:
		return iter->ent_size >= sizeof(struct bts_lost_entry);
	default:
		return iter->ent_size >= sizeof(struct bts_branch_entry);
	}
}

static void bts_unpack(struct trace_iterator *iter, struct bts_rows *rows)
{
	struct bts_pack_entry *pack;
	unsigned int nr;

	trace_assign_type(pack, iter->ent);
	nr = pack->format == BTS_PACK_FORMAT ? min_t(unsigned int, pack->nr, BTS_PACK_MAX) : 0;
	bts_decoder_begin(&rows->decoder, pack->code, iter->ent_size - BTS_PACK_HEAD,
			  pack->from, nr);
	rows->nr = bts_decoder_rest(&rows->decoder, rows->branch, nr);
}

static u64 bts_seq(const union bts_entry *entry)
{
	return bts_is_loss(entry) ? entry->lost.seq : entry->pack.seq;
}

/* Return the state for printing a pack or a loss. All rows of an entry share this state. */
static struct bts_rows *bts_rows_of(struct trace_iterator *iter)
{
	u64 seq = bts_seq((union bts_entry *)iter->ent);
	struct bts_rows *rows = bts_rows(iter);

	if (!rows || (rows->ts == iter->ts && rows->seq == seq &&
		      rows->cpu == iter->cpu && rows->type == iter->ent->type))
		return rows;
	rows->ts = iter->ts;
	rows->seq = seq;
	rows->cpu = iter->cpu;
	rows->type = iter->ent->type;
	rows->gone = bts_gone(iter, *bts_next(iter, rows), seq);
	rows->nr = 0;
	if (rows->type == TRACE_BTS_PACK)
		bts_unpack(iter, rows);
	return rows;
}

/*
 * Return the mm_struct of the task that took the branch, or NULL if the task has ended. Also
 * return NULL in a dump after a crash, because looking up a mapping may sleep.
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

/* Print @addr as a mapped file and an offset in the mapping, as in user stack traces. */
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
 * Return the current address of the kernel code that was at @addr when the ring buffer was
 * written. A persistent ring buffer may be from an earlier boot, with other addresses (KASLR).
 * Modules and the vsyscall page do not move with the text, so leave their addresses unchanged.
 */
VISIBLE_IF_KUNIT unsigned long bts_text_here(struct trace_array *tr, unsigned long addr)
{
	unsigned long here = addr + tr->text_delta;

	return is_kernel(here) ? here : addr;
}

static void bts_print_addr(struct trace_iterator *iter, struct mm_struct *mm,
			   unsigned long addr, unsigned long flags)
{
	struct trace_seq *s = &iter->seq;

	if (!ds_is_user(addr)) {
		seq_print_ip_sym(s, bts_text_here(iter->tr, addr),
				 flags | TRACE_ITER(SYM_OFFSET));
		return;
	}
	if (!mm || !bts_print_file(s, mm, addr))
		trace_seq_printf(s, "0x%lx", addr);
	else if (flags & TRACE_ITER(SYM_ADDR))
		trace_seq_printf(s, " <0x%lx>", addr);
}

/**
 * struct bts_row - a row of the trace: a branch or a loss
 * @branch:	the branch; if @lost is true, @branch.to is the number of lost branches, or 0 if
 *		this number is unknown
 * @lost:	the row is a loss
 * @cause:	the cause of the loss
 */
struct bts_row {
	struct bts_pair	branch;
	bool		lost;
	unsigned int	cause;
};

static struct bts_row bts_lost_row(unsigned int cause, u64 count)
{
	return (struct bts_row){ .branch.to = count, .lost = true, .cause = cause };
}

/* The current entry has no sequence number, so accept any sequence number in the next entry. */
static void bts_forget_number(struct trace_iterator *iter)
{
	struct bts_rows *rows = bts_rows(iter);

	if (rows)
		*bts_next(iter, rows) = BTS_NO_NUMBER;
}

/*
 * Return the current row of the current entry. If branches are missing before a pack or a loss
 * entry, the entry's first row reports them. The next rows of a pack are its branches. If some of
 * these cannot be decoded, the pack's last row reports them. The last row of a loss entry shows the
 * loss that the entry reports. With an entry's last row, this function also updates bts_rows.next.
 */
static struct bts_row bts_row(struct trace_iterator *iter)
{
	const union bts_entry *entry = (union bts_entry *)iter->ent;
	unsigned int nr, row = iter->row;
	struct bts_rows *rows;

	if (!bts_is_whole(iter)) {
		bts_forget_number(iter);
		return bts_lost_row(BTS_GONE_DAMAGED, 0);
	}
	if (entry->ent.type == TRACE_BTS) {
		bts_forget_number(iter);
		return (struct bts_row){ .branch = { entry->branch.from, entry->branch.to } };
	}
	rows = bts_rows_of(iter);
	if (rows && rows->gone && !row--)
		return bts_lost_row(BTS_GONE_OVERWRITTEN, rows->gone);
	nr = rows ? rows->nr : 0;
	if (rows && (row + 1 >= bts_branches(entry) || row >= nr))
		*bts_next(iter, rows) = bts_seq(entry) + bts_span(entry);
	if (row < nr)
		return (struct bts_row){ .branch = rows->branch[row] };
	return bts_lost_row(bts_is_loss(entry) ? entry->lost.cause : BTS_GONE_DAMAGED,
			    bts_span(entry) - nr);
}

static unsigned int bts_count_rows(struct trace_iterator *iter)
{
	const union bts_entry *entry = (union bts_entry *)iter->ent;
	struct bts_rows *rows;

	if (!bts_is_whole(iter) || entry->ent.type == TRACE_BTS)
		return 1;
	rows = bts_rows_of(iter);
	if (!rows)
		return 1;
	return !!rows->gone + rows->nr + (bts_is_loss(entry) || rows->nr < entry->pack.nr);
}

static void bts_print_branch(struct trace_iterator *iter, int flags,
			     const struct bts_pair *branch)
{
	struct trace_seq *s = &iter->seq;
	struct mm_struct *mm = NULL;

	if (iter->tr->trace_flags & TRACE_ITER(SYM_USEROBJ))
		mm = bts_get_mm(iter);

	bts_print_addr(iter, mm, branch->from, flags);
	trace_seq_puts(s, " -> ");
	bts_print_addr(iter, mm, branch->to, flags);
	trace_seq_putc(s, '\n');

	if (mm)
		mmput(mm);
}

static void bts_print_cause(struct trace_iterator *iter, unsigned int cause)
{
	const struct bts_pack_entry *pack = (struct bts_pack_entry *)iter->ent;

	if (cause == BTS_GONE_DAMAGED && pack->ent.type == TRACE_BTS_PACK &&
	    bts_is_whole(iter) && pack->format != BTS_PACK_FORMAT)
		trace_seq_printf(&iter->seq, BTS_PACK_FOREIGN, pack->format);
	else
		trace_seq_puts(&iter->seq, cause < BTS_LOST_CAUSES ? bts_causes[cause].text :
								     "unknown cause");
}

static enum print_line_t bts_print(struct trace_iterator *iter, int flags,
				   struct trace_event *event)
{
	struct bts_row row = bts_row(iter);
	struct trace_seq *s = &iter->seq;

	if (!row.lost) {
		bts_print_branch(iter, flags, &row.branch);
		return trace_handle_return(s);
	}
	trace_seq_puts(s, "LOST ");
	if (row.branch.to)
		trace_seq_printf(s, "%llu ", row.branch.to);
	trace_seq_puts(s, row.cause == BTS_LOST_ROWS ? "rows (" : "branches (");
	bts_print_cause(iter, row.cause);
	trace_seq_puts(s, ")\n");
	return trace_handle_return(s);
}

static enum print_line_t bts_raw(struct trace_iterator *iter, int flags,
				 struct trace_event *event)
{
	struct bts_row row = bts_row(iter);

	if (row.lost)
		trace_seq_printf(&iter->seq, "LOST %llu %u\n", row.branch.to, row.cause);
	else
		trace_seq_printf(&iter->seq, "%llx %llx\n", row.branch.from,
				 row.branch.to);
	return trace_handle_return(&iter->seq);
}

static enum print_line_t bts_hex(struct trace_iterator *iter, int flags,
				 struct trace_event *event)
{
	struct bts_row row = bts_row(iter);

	SEQ_PUT_HEX_FIELD(&iter->seq, row.branch.from);
	SEQ_PUT_HEX_FIELD(&iter->seq, row.branch.to);
	return trace_handle_return(&iter->seq);
}

static enum print_line_t bts_bin(struct trace_iterator *iter, int flags,
				 struct trace_event *event)
{
	struct bts_row row = bts_row(iter);

	SEQ_PUT_FIELD(&iter->seq, row.branch);
	return trace_handle_return(&iter->seq);
}

static struct trace_event_functions bts_funcs = {
	.trace		= bts_print,
	.raw		= bts_raw,
	.hex		= bts_hex,
	.binary		= bts_bin,
	.rows		= bts_count_rows,
};

static struct trace_event bts_events[] = {
	{ .type = TRACE_BTS,		.funcs = &bts_funcs },
	{ .type = TRACE_BTS_LOST,	.funcs = &bts_funcs },
	{ .type = TRACE_BTS_PACK,	.funcs = &bts_funcs },
};

int __init bts_register_events(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(bts_events); i++) {
		if (!register_trace_event(&bts_events[i])) {
			pr_warn("cannot register the trace events\n");
			return -ENODEV;
		}
	}
	return 0;
}
