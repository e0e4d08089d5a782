// SPDX-License-Identifier: GPL-2.0-only
/*
 * Handle non-branch rows: losses, departures, arrivals, mappings and other events.
 *
 * A loss on a CPU may affect any task that took its last branch before the loss, or its first
 * branch after the loss, on this CPU. So a row reports the loss and, if known, the task that lost
 * branches. For any other task that may be affected, a gap is reported before its next branch.
 */
#include <string.h>
#include <sys/sysmacros.h>

#include "lib/bytes.h"
#include "lib/cpus.h"
#include "private.h"

/* A task in the kernel's state EXIT_DEAD, EXIT_ZOMBIE or TASK_DEAD has ended. */
#define STATE_ENDED	(0x10 | 0x20 | 0x80)

int pipe_row(struct pipe_private *v, struct task *t, const struct row *row)
{
	struct consumer *c = &v->pipe->consumer;

	return c->row ? c->row(c->ctx, t, row) : 0;
}

int task_lost(struct pipe_private *v, struct task *t, int cpu, uint64_t ts)
{
	struct row row = { .type = ROW_GAP, .cpu = cpu, .ts = ts, .from = t->at };
	bool lost = false, known = t->known;

	if (t->loss_seq != v->loss_seq) {
		lost = (size_t)cpu < v->nr_cpus && v->cpu_lost[cpu] > t->loss_seq;
		lost |= t->cpu >= 0 && (size_t)t->cpu < v->nr_cpus &&
			v->cpu_lost[t->cpu] > t->loss_seq;
		t->loss_seq = v->loss_seq;
	}
	t->cpu = cpu;
	if (!lost)
		return 0;
	t->known = false;
	t->step = NULL;
	return known ? pipe_row(v, t, &row) : 0;
}

static void count_loss(struct pipe_private *v, unsigned int cause, uint64_t count)
{
	struct pipe_bill *bill = &v->pipe->bill;

	if (cause >= LOSS_CAUSES)
		cause = LOSS_MISSED;
	if (count)
		bill->losses.known[cause] += count;
	else
		bill->losses.times[cause]++;
}

static void note_loss(struct pipe_private *v, int cpu)
{
	v->loss_seq++;
	if (cpu < 0 || cpu >= CPUS_MAX)
		return;
	tasks_more_cpus(v, cpu + 1);
	v->cpu_lost[cpu] = v->loss_seq;
}

static int missed(struct pipe_private *v, const struct batch *b)
{
	struct row row = {
		.type = ROW_LOST, .cpu = b->cpu, .ts = b->ts, .count = b->count,
		.cause = b->cause,
	};

	note_loss(v, b->cpu);
	count_loss(v, b->cause, b->count);
	return pipe_row(v, NULL, &row);
}

static int lost(struct pipe_private *v, struct task *t, const struct batch *b)
{
	struct row row = {
		.type = ROW_LOST, .cpu = b->cpu, .ts = b->ts, .count = b->count,
		.cause = b->cause < LOSS_CAUSES ? b->cause : LOSS_MISSED,
	};

	note_loss(v, b->cpu);
	t->loss_seq = v->loss_seq;
	t->known = false;
	t->step = NULL;
	if (!t->chosen)
		return 0;
	count_loss(v, b->cause, b->count);
	return pipe_row(v, t, &row);
}

static uint64_t number(const struct format *f, const struct batch *b, const char *field)
{
	return format_number(format_field(f, field, 0), b->entry, b->size);
}

/* Copy a string from an entry to @buffer, and terminate the copy with a NUL. */
static void string(const struct format *f, const struct batch *b, const char *field,
		   char *buffer, size_t size)
{
	const char *bytes;
	uint32_t length;

	bytes = format_bytes(format_field(f, field, 0), b->entry, b->size, &length);
	if (!bytes || length >= size)
		length = bytes ? size - 1 : 0;
	if (length)
		memcpy(buffer, bytes, length);
	buffer[length] = 0;
}

static int sched(struct pipe_private *v, struct task *t, const struct batch *b)
{
	const struct format *f = format_numbered(&v->formats, b->id);
	struct row row = { .cpu = b->cpu, .ts = b->ts };
	char comm[16];
	int ret;

	row.type = b->type == BATCH_DEPARTS ? ROW_DEPARTS : ROW_ARRIVES;
	row.user_ip = number(f, b, "user_ip");
	row.kernel_ip = number(f, b, "kernel_ip");
	row.voluntary = number(f, b, "voluntary");
	row.state = number(f, b, "state");
	row.dead = row.type == ROW_DEPARTS && (row.state & STATE_ENDED);
	string(f, b, "comm", comm, sizeof(comm));
	task_named(v, t, comm);
	task_of(v, t, number(f, b, "tgid"));
	v->departs |= row.type == ROW_DEPARTS;
	v->departures += row.type == ROW_DEPARTS && t->chosen;
	ret = t->chosen ? pipe_row(v, t, &row) : 0;
	if (ret)
		return ret;
	if (v->pipe->user_only && row.user_ip && !row.dead)
		return infer_start(v, t, &row);
	if (row.dead && v->pipe->user_only && row.user_ip)
		infer_end(v, t, row.user_ip);
	if (row.dead) {
		t->known = false;
		t->step = NULL;
	}
	return 0;
}

static int map(struct pipe_private *v, struct task *t, const struct batch *b, bool shown)
{
	const struct format *f = format_numbered(&v->formats, b->id);
	struct row row = { .type = ROW_MAP, .cpu = b->cpu, .ts = b->ts };
	struct object_key key = {};
	struct map m = {};
	char path[4096], text[4096 + 64], comm[16];
	uint32_t length = 0;

	/* Older traces have no "comm", the name of the task, in this row. */
	string(f, b, "comm", comm, sizeof(comm));
	if (comm[0])
		task_named(v, t, comm);
	string(f, b, "path", path, sizeof(path));
	key.path = path;
	key.build_id_size = number(f, b, "build_id_size");
	key.build_id = format_bytes(format_field(f, "build_id", 0), b->entry, b->size, &length);
	if (!key.build_id || key.build_id_size > BUILD_ID_MAX || key.build_id_size > length)
		key.build_id_size = 0;
	key.inode = number(f, b, "inode");
	key.device = makedev(number(f, b, "maj"), number(f, b, "min"));
	key.tgid = number(f, b, "tgid");
	task_of(v, t, key.tgid);
	m.addr = number(f, b, "addr");
	m.end = m.addr + number(f, b, "len");
	if (!strcmp(path, "[vdso]") && m.end <= 1ULL << 32)
		key.path = "[vdso32]";
	m.object = object_get(&v->pipe->objects, &key);
	m.bias = m.object->is_file ? m.addr - object_addr(m.object, number(f, b, "offset")) : 0;
	if (is_kernel(m.addr) || m.end < m.addr)
		return 0;
	space_map(&v->spaces, t->space, &m);
	t->step = NULL;
	if (v->pipe->user_only && !strcmp(path, "[vdso]"))
		infer_exec(t);
	snprintf(text, sizeof(text), "bts_map: %#llx-%#llx %s", (unsigned long long)m.addr,
		 (unsigned long long)m.end, path);
	row.text = text;
	row.from = m.addr;
	row.to = m.end;
	return shown && t->chosen ? pipe_row(v, t, &row) : 0;
}

static int event(struct pipe_private *v, struct task *t, const struct batch *b)
{
	const struct format *f = format_numbered(&v->formats, b->id);
	struct row row = { .type = ROW_EVENT, .cpu = b->cpu, .ts = b->ts };
	struct bytes text = {};
	int ret;

	if (!f || !v->pipe->consumer.row || !t->chosen)
		return 0;
	format_text(&text, f, b->entry, b->size);
	bytes_add8(&text, 0);
	row.text = text.data;
	ret = pipe_row(v, t, &row);
	bytes_free(&text);
	return ret;
}

int pipe_other(struct pipe_private *v, struct batch *b)
{
	bool shown = options_want_cpu(v->pipe->options, b->cpu) && b->ts >= v->time_from &&
		     b->ts <= v->time_to;
	struct task *t;

	/*
	 * Also apply mappings that are not shown, because the names of addresses depend on all
	 * mappings. But ignore mappings after v->time_to: the reader may have skipped some of them.
	 */
	if (b->type == BATCH_MAP && b->ts > v->time_to)
		return 0;
	if (b->type == BATCH_MAP)
		return map(v, task_get(v, b->pid, b->cpu), b, shown);
	if (!shown)
		return 0;
	if (b->type == BATCH_MISSED)
		return missed(v, b);
	t = task_get(v, b->pid, b->cpu);
	switch (b->type) {
	case BATCH_LOST:
		return lost(v, t, b);
	case BATCH_DEPARTS:
	case BATCH_ARRIVES:
		task_is_on(v, t, b->cpu);
		return sched(v, t, b);
	default:
		return event(v, t, b);
	}
}
