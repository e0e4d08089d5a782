// SPDX-License-Identifier: GPL-2.0-only
/*
 * Make a long trace. Write the branches of the trace IN to the trace OUT, TIMES times in a row.
 *
 *	generate IN OUT TIMES [entries|packs] [zstd|none] [N] [FROM...]
 *
 * If IN is the only argument, decode IN, and print the number of branches. With "packs", branches
 * are written in packs, even if IN contains no packs. Rows of mappings are written once. Rows of
 * task switches are written in each repetition, with later times. Formats, symbols and names are
 * copied from IN. With N, but without FROM, every Nth pack is left out, as if the ring buffer had
 * been overwritten. FROM is a list of addresses. With FROM, all packs stay, but every Nth branch
 * that begins at a listed address is left out, without a loss row. The number of left-out branches
 * is printed. These environment variables change the trace:
 *
 *	BTS_WRONG=1		with FROM, keep all branches. Change every Nth branch's source to
 *				the previous branch's target. (Erratum AAJ122 causes wrong sources.)
 *	BTS_SMALL=1		leave out most formats and symbols, so that random damage hits
 *				bytes that matter
 *	BTS_TASKS=N		assign the repetitions to N tasks in turn, as if these tasks were
 *				threads of the recorded process. No row shows the end of a task
 *	BTS_PROCESSES=N		like BTS_TASKS=N, but make N processes with different addresses
 *	BTS_FIRST=N		keep only the first N branches of each CPU, in each repetition
 *	BTS_MOVES=N		every N branches, move the first CPU's tasks to CPU 1000 or back.
 *				Pass "entries", because in a pack, all branches have the same time
 *	BTS_IDLE=1		write the branches of the first CPU as branches of its idle task,
 *				and write the same branches, with the same times, for CPU 1000
 *	BTS_INDEX=N		make chunks of N pages, and add an index, as bts record does
 *	BTS_SHIFT=HEX		add HEX to all addresses below 4 GB, as if the program at these
 *				addresses were the kernel
 *	BTS_KALLSYMS=FILE	add the symbols in FILE to the symbols of the trace
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "file/cpu_reader.h"
#include "file/trace_dat.h"
#include "lib/error.h"
#include "lib/mem.h"
#include "lib/msg.h"
#include "bts/pack.h"

#define PAGE		4096
#define CHUNK		(1U << 20)
#define PACK_NR		512
#define PACK_ID		1999
#define PACK_HEAD	35
#define PACK_BYTES	3000
/* See BTS_TASKS. In copy K of the recorded tasks, each PID is K * CLONE_PIDS higher. */
#define CLONE_PIDS	1000

static const char pack_format[] =
	"name: bts_pack\nID: 1999\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:u64 seq;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:unsigned long from;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:unsigned long to;\toffset:24;\tsize:8;\tsigned:0;\n"
	"\tfield:unsigned short nr;\toffset:32;\tsize:2;\tsigned:0;\n"
	"\tfield:u8 format;\toffset:34;\tsize:1;\tsigned:0;\n"
	"\tfield:u8 code[];\toffset:35;\tsize:0;\tsigned:0;\n\n"
	"print fmt: \"%u branches\", REC->nr\n";

/*
 * The output: the page that is being filled, and the chunk of the file that will contain the page.
 */
struct out {
	FILE		*file;
	ZSTD_CCtx	*zstd;
	bool		packs;
	uint32_t	branch_id;
	uint32_t	pack_id;
	uint8_t		page[PAGE];
	uint32_t	used;
	uint64_t	ts;
	uint8_t		*chunk;
	uint32_t	chunk_used;
	uint32_t	chunks;
	uint64_t	seq;
	unsigned long	drop;
	unsigned long	made;
	uint64_t	*from;
	int		nr_from;
	unsigned long	met;
	unsigned long	left_out;
	bool		wrong;
	uint64_t	shift;
	char		*kallsyms;
	unsigned long	clones;		/* the N of BTS_TASKS=N or BTS_PROCESSES=N; 0 if unset */
	unsigned long	clone;		/* the current copy K of the tasks, from 0 */
	bool		processes;
	uint32_t	chunk_size;
	bool		maps;		/* the current chunk contains mappings */
	FILE		*index;		/* the section that lists the chunks of all CPUs */
	char		*index_bytes;
	size_t		index_size;
	FILE		*times;		/* the times of the current CPU's chunks */
	const struct formats *formats;
	unsigned long	first;
	unsigned long	moves;
	bool		idle;
	size_t		cpu;		/* the number of the current CPU, from 0 */
	struct bts_coder coder;
};

static void put(FILE *f, const void *bytes, size_t size)
{
	if (fwrite(bytes, size, 1, f) != 1) {
		msg_errno("write", "the trace");
		exit(1);
	}
}

static void end_chunk(struct out *o)
{
	size_t bound = ZSTD_compressBound(CHUNK);
	uint32_t sizes[2] = { 0, o->chunk_used };
	uint8_t *packed;
	uint64_t time;

	if (!o->chunk_used)
		return;
	memcpy(&time, o->chunk, sizeof(time));
	time |= o->maps ? DAT_INDEX_MAPS : 0;
	put(o->times, &time, sizeof(time));
	o->maps = false;
	if (o->zstd) {
		packed = mem_alloc(bound);
		sizes[0] = ZSTD_compress2(o->zstd, packed, bound, o->chunk, o->chunk_used);
		put(o->file, sizes, 8);
		put(o->file, packed, sizes[0]);
		free(packed);
		o->chunks++;
	} else {
		put(o->file, o->chunk, o->chunk_used);
	}
	o->chunk_used = 0;
}

static void end_page(struct out *o)
{
	uint64_t commit = o->used - 16;

	if (o->used <= 16)
		return;
	memcpy(o->page + 8, &commit, 8);
	memset(o->page + o->used, 0, PAGE - o->used);
	memcpy(o->chunk + o->chunk_used, o->page, PAGE);
	o->chunk_used += PAGE;
	o->used = 16;
	if (o->chunk_used == o->chunk_size)
		end_chunk(o);
}

/* Write an entry of @size bytes, which must be a multiple of 4. */
static void put_entry(struct out *o, const void *entry, uint32_t size, uint64_t ts)
{
	uint32_t words = size / 4, head = words <= 28 ? 4 : 8;
	uint64_t delta;
	uint32_t word;

	if (o->used + head + size + 8 > PAGE)
		end_page(o);
	if (o->used <= 16) {
		o->used = 16;
		o->ts = ts;
		memcpy(o->page, &ts, 8);
	}
	delta = ts > o->ts ? ts - o->ts : 0;
	o->ts += delta;
	if (delta >> 27) {
		word = 30 | (uint32_t)(delta & 0x7ffffff) << 5;
		memcpy(o->page + o->used, &word, 4);
		word = delta >> 27;
		memcpy(o->page + o->used + 4, &word, 4);
		o->used += 8;
		delta = 0;
		if (o->used + head + size > PAGE) {
			put_entry(o, entry, size, ts);
			return;
		}
	}
	word = (words <= 28 ? words : 0) | (uint32_t)delta << 5;
	memcpy(o->page + o->used, &word, 4);
	word = size + 4;
	if (words > 28)
		memcpy(o->page + o->used + 4, &word, 4);
	memcpy(o->page + o->used + head, entry, size);
	o->used += head + size;
}

static void put_branches(struct out *o, const struct batch *b, uint64_t shift)
{
	struct {
		uint16_t type;
		uint16_t flags;
		int32_t pid;
		uint64_t from;
		uint64_t to;
	} entry = { .type = o->branch_id, .pid = b->pid };

	for (uint32_t i = 0; i < b->nr; i++) {
		entry.from = b->branch[i].from;
		entry.to = b->branch[i].to;
		put_entry(o, &entry, sizeof(entry), b->times[i] + shift);
	}
}

static void put_packs(struct out *o, const struct batch *b, uint64_t shift)
{
	static uint32_t words[PAGE / 4];
	uint8_t *entry = (uint8_t *)words;
	uint16_t type = o->pack_id;
	uint32_t i = 0, size;

	for (uint32_t first = 0; first < b->nr; first = i) {
		memset(words, 0, sizeof(words));
		bts_coder_begin(&o->coder, entry + PACK_HEAD, PACK_BYTES);
		while (i < b->nr && i - first < PACK_NR &&
		       bts_coder_add_all(&o->coder, &(struct ds_bts_record){
						 b->branch[i].from, b->branch[i].to }, 1))
			i++;
		size = PACK_HEAD + bts_coder_end(&o->coder);
		memcpy(entry, &type, 2);
		memcpy(entry + 4, &b->pid, 4);
		memcpy(entry + 8, &o->seq, 8);
		memcpy(entry + 16, &o->coder.from, 8);
		memcpy(entry + 24, &o->coder.to, 8);
		memcpy(entry + 32, &o->coder.nr, 2);
		entry[34] = BTS_PACK_FORMAT;
		o->seq += o->coder.nr;
		if (!o->drop || o->nr_from || ++o->made % o->drop)
			put_entry(o, entry, (size + 3) & ~3U, b->times[first] + shift);
	}
}

static bool is_wanted(struct out *o, uint64_t from)
{
	for (int i = 0; i < o->nr_from; i++)
		if (from == o->from[i])
			return ++o->met % o->drop;
	return true;
}

/* Leave out the branches that is_wanted() rejects. With BTS_WRONG, only overwrite their @from. */
static void thin(struct out *o, struct batch *b)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < b->nr; i++) {
		bool wanted = is_wanted(o, b->branch[i].from);

		if (!wanted && o->wrong && i) {
			b->branch[i].from = b->branch[i - 1].to;
			o->left_out++;
		} else if (!wanted && !o->wrong) {
			continue;
		}
		b->times[nr] = b->times[i];
		b->branch[nr++] = b->branch[i];
	}
	o->left_out += b->nr - nr;
	b->nr = nr;
}

/* Keep the branches that belong to the current CPU. The batch begins with branch number @at. */
static void keep_part(const struct out *o, struct batch *b, uint64_t at)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < b->nr; i++) {
		if ((at + i) / o->moves % 2 != o->cpu)
			continue;
		b->times[nr] = b->times[i] + at + i;
		b->branch[nr++] = b->branch[i];
	}
	b->nr = nr;
}

/* Move the program's addresses into the kernel's address range. */
static void lift(struct out *o, struct batch *b)
{
	for (uint32_t i = 0; i < b->nr; i++) {
		if (!(b->branch[i].from >> 32))
			b->branch[i].from += o->shift;
		if (!(b->branch[i].to >> 32))
			b->branch[i].to += o->shift;
	}
}

static void add_to_field(struct out *o, struct batch *b, const char *name, uint64_t number)
{
	const struct format *f = format_numbered(o->formats, b->id);
	const struct format_field *field = format_field(f, name, 0);

	if (!field || field->size > sizeof(number) || field->offset + field->size > b->size)
		return;
	number += format_number(field, b->entry, b->size);
	memcpy(b->entry + field->offset, &number, field->size);
}

/* For copy number o->clone of the tasks, increase PIDs and, with BTS_PROCESSES, also addresses. */
static void set_clone(struct out *o, struct batch *b)
{
	uint64_t pids = o->clone * CLONE_PIDS, slide = o->processes ? o->clone * PAGE : 0;

	b->pid += pids;
	if (b->type == BATCH_BRANCHES) {
		for (uint32_t i = 0; i < b->nr; i++) {
			b->branch[i].from += (int64_t)b->branch[i].from < 0 ? 0 : slide;
			b->branch[i].to += (int64_t)b->branch[i].to < 0 ? 0 : slide;
		}
		return;
	}
	add_to_field(o, b, "common_pid", pids);
	if (!o->processes)
		return;
	add_to_field(o, b, "tgid", pids);
	add_to_field(o, b, "addr", slide);
	if (format_number(format_field(format_numbered(o->formats, b->id), "user_ip", 0),
			  b->entry, b->size))
		add_to_field(o, b, "user_ip", slide);
}

/* Assign the branches to the idle task. */
static void set_idle(struct out *o, struct batch *b)
{
	if (b->type != BATCH_BRANCHES)
		add_to_field(o, b, "common_pid", -(uint64_t)b->pid);
	b->pid = 0;
}

/* Return: the symbols of the file, followed by the symbols of the trace. */
static char *more_symbols(const char *path, const struct dat *dat)
{
	char *text = NULL, *all;
	size_t size = 0;
	FILE *f;

	if (!path)
		return NULL;
	f = fopen(path, "r");
	if (!f || getdelim(&text, &size, 0, f) < 0)
		exit(msg_errno("read", path));
	fclose(f);
	all = mem_format("%s%.*s", text, (int)dat->kallsyms.size, dat->kallsyms.text);
	free(text);
	return all;
}

static const char *after_lines(const char *text, unsigned int nr)
{
	while (nr-- && *text) {
		text += strcspn(text, "\n");
		text += !!*text;
	}
	return text;
}

/* Keep only the formats whose names begin with bts_, and only every 200th kernel symbol. */
static void shrink(struct dat *dat)
{
	char *symbols = dat->kallsyms.text, *end = symbols;
	size_t nr = 0;

	for (size_t i = 0; i < dat->nr_formats; i++) {
		struct dat_text text = dat->formats[i];

		if (!strncmp(text.text, "name: bts_", 10))
			dat->formats[nr++] = text;
		else
			free(text.text);
	}
	dat->nr_formats = nr;
	for (const char *at = symbols; at && *at; at = after_lines(at, 200)) {
		size_t length = after_lines(at, 1) - at;

		memmove(end, at, length);
		end += length;
	}
	dat->kallsyms.size = end - symbols;
}

static void fail(const struct error *error)
{
	exit(msg_error(NULL, NULL, "%s", error_text(error)));
}

/* Write the entries of a CPU for one repetition. Return: the time of the last row. */
static uint64_t pass(struct out *o, struct dat *dat, struct dat_cpu *cpu,
		     const struct layout *layout, uint64_t shift, bool first)
{
	struct error error = {};
	uint64_t last = 0, nr = 0;
	struct cpu_reader r;
	struct batch *b;

	if (!cpu_reader_start(&r, dat, cpu, layout, &error))
		fail(&error);
	while ((b = queue_peek(&r.queue))) {
		if (o->first && nr >= o->first)
			break;
		if (o->clones)
			set_clone(o, b);
		if (o->idle)
			set_idle(o, b);
		nr += b->nr;
		if (b->type == BATCH_BRANCHES) {
			last = b->times[b->nr - 1];
			if (o->moves)
				keep_part(o, b, nr - b->nr);
			if (o->nr_from)
				thin(o, b);
			if (o->shift)
				lift(o, b);
			if (o->packs)
				put_packs(o, b, shift);
			else
				put_branches(o, b, shift);
		} else if (b->type != BATCH_MISSED && (first || b->type != BATCH_MAP) &&
			   !(o->moves && o->cpu) && (!o->clones || b->type != BATCH_DEPARTS)) {
			last = b->ts;
			put_entry(o, b->entry, (b->size + 3) & ~3U,
				  b->ts + shift + (o->moves ? nr : 0));
			o->maps |= b->type == BATCH_MAP;
		}
		queue_next(&r.queue);
	}
	cpu_reader_stop(&r);
	return last;
}

static void section(FILE *f, uint16_t id, const void *bytes, uint64_t size, uint16_t flags)
{
	uint16_t head[4] = { id, flags };

	put(f, head, 8);
	put(f, &size, 8);
	if (bytes)
		put(f, bytes, size);
}

static void sized_text(FILE *m, const struct dat_text *t, const char *text, unsigned int width)
{
	uint64_t size = text ? strlen(text) : t->size;

	put(m, &size, width);
	if (size)
		put(m, text ? text : t->text, size);
}

static void put_formats(FILE *f, struct dat *dat, bool has_packs, const char *kallsyms)
{
	uint32_t nr = dat->nr_formats + !has_packs;
	char *bytes;
	size_t size;
	FILE *m;

	m = open_memstream(&bytes, &size);
	put(m, "header_page", 12);
	sized_text(m, &dat->header_page, NULL, 8);
	put(m, "header_event", 13);
	sized_text(m, NULL, "", 8);
	fclose(m);
	section(f, 16, bytes, size, 0);
	free(bytes);
	m = open_memstream(&bytes, &size);
	put(m, &nr, 4);
	for (size_t i = 0; i < dat->nr_formats; i++)
		sized_text(m, &dat->formats[i], NULL, 8);
	if (!has_packs)
		sized_text(m, NULL, pack_format, 8);
	fclose(m);
	section(f, 17, bytes, size, 0);
	free(bytes);
	m = open_memstream(&bytes, &size);
	sized_text(m, &dat->kallsyms, kallsyms, 4);
	fclose(m);
	section(f, 19, bytes, size, 0);
	free(bytes);
	m = open_memstream(&bytes, &size);
	sized_text(m, &dat->cmdlines, NULL, 8);
	fclose(m);
	section(f, 21, bytes, size, 0);
	free(bytes);
}

static void put_options(FILE *f, struct dat *dat, uint64_t data_at, const uint64_t *at,
			const uint64_t *sizes)
{
	uint32_t page = PAGE, nr = dat->nr_cpus, size;
	uint16_t id = 3;
	uint64_t none = 0;
	char *bytes, *all;
	size_t length, all_length;
	FILE *m;

	m = open_memstream(&bytes, &length);
	put(m, &data_at, 8);
	put(m, "", 1);
	put(m, "local", 6);
	put(m, &page, 4);
	put(m, &nr, 4);
	for (uint32_t i = 0; i < nr; i++) {
		put(m, &dat->cpus[i].cpu, 4);
		put(m, &at[i], 8);
		put(m, &sizes[i], 8);
	}
	fclose(m);
	m = open_memstream(&all, &all_length);
	size = length;
	put(m, &id, 2);
	put(m, &size, 4);
	put(m, bytes, length);
	if (dat->uname.size) {
		id = 5;
		size = dat->uname.size;
		put(m, &id, 2);
		put(m, &size, 4);
		put(m, dat->uname.text, size);
	}
	id = 0;
	size = 8;
	put(m, &id, 2);
	put(m, &size, 4);
	put(m, &none, 8);
	fclose(m);
	section(f, 0, all, all_length, 0);
	free(bytes);
	free(all);
}

static void put_cpu(struct out *o, struct dat *dat, struct dat_cpu *cpu,
		    const struct layout *layout, unsigned long times)
{
	uint64_t shift = 0, last = 0, first_ts = 0, at;
	char *of_chunks;
	size_t size;

	o->times = open_memstream(&of_chunks, &size);
	o->used = 16;
	o->chunks = 0;
	o->seq = 0;
	at = ftello(o->file);
	if (o->zstd)
		put(o->file, &o->chunks, 4);
	for (unsigned long i = 0; i < times; i++) {
		o->clone = o->clones ? i % o->clones : 0;
		last = pass(o, dat, cpu, layout, shift, !i || (o->processes && i < o->clones));
		if (!i)
			first_ts = last > 1000000000 ? last - 1000000000 : 0;
		shift += last - first_ts + 1000;
	}
	end_page(o);
	end_chunk(o);
	fclose(o->times);
	put(o->index, &cpu->cpu, 4);
	put(o->index, &o->chunks, 4);
	if (size)
		put(o->index, of_chunks, size);
	free(of_chunks);
	if (o->zstd) {
		fseeko(o->file, at, SEEK_SET);
		put(o->file, &o->chunks, 4);
		fseeko(o->file, 0, SEEK_END);
	}
}

/* Keep only the first CPU, and add CPU 1000 with the same entries. */
static void set_two_cpus(struct dat *dat)
{
	dat->cpus = mem_realloc(dat->cpus, 2, sizeof(*dat->cpus));
	dat->cpus[1] = dat->cpus[0];
	dat->cpus[1].cpu = 1000;
	dat->nr_cpus = 2;
}

static void generate(struct dat *dat, struct out *o, const struct layout *layout,
		     unsigned long times)
{
	uint8_t head[] = { 0x17, 8, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g', '7', 0, 0, 8,
			   0, 0x10, 0, 0 };
	uint64_t data_at, options_at, zero = 0, end;
	uint64_t *at = mem_zalloc(dat->nr_cpus, 8), *sizes = mem_zalloc(dat->nr_cpus, 8);
	long options_field;
	FILE *f = o->file;

	put(f, head, sizeof(head));
	put(f, o->zstd ? "zstd" : "none", 5);
	put(f, "", 1);
	options_field = ftell(f);
	put(f, &zero, 8);
	put_formats(f, dat, o->pack_id != PACK_ID, o->kallsyms);
	data_at = ftello(f);
	section(f, 3, NULL, 0, !!o->zstd);
	for (size_t i = 0; i < dat->nr_cpus; i++) {
		while (ftello(f) % PAGE)
			put(f, "", 1);
		at[i] = ftello(f);
		o->cpu = i;
		put_cpu(o, dat, &dat->cpus[i], layout, times);
		sizes[i] = ftello(f) - at[i];
	}
	end = ftello(f) - data_at - 16;
	if (getenv("BTS_INDEX")) {
		fflush(o->index);
		section(f, DAT_SECTION_INDEX, o->index_bytes, o->index_size, 0);
	}
	options_at = ftello(f);
	put_options(f, dat, data_at, at, sizes);
	fseeko(f, data_at + 8, SEEK_SET);
	put(f, &end, 8);
	fseek(f, options_field, SEEK_SET);
	put(f, &options_at, 8);
	free(at);
	free(sizes);
}

static int decode(struct dat *dat, const struct layout *layout)
{
	unsigned long long nr = 0;

	for (size_t i = 0; i < dat->nr_cpus; i++) {
		struct error error = {};
		struct cpu_reader r;
		struct batch *b;

		if (!cpu_reader_start(&r, dat, &dat->cpus[i], layout, &error))
			fail(&error);
		while ((b = queue_peek(&r.queue))) {
			nr += b->type == BATCH_BRANCHES ? b->nr : 0;
			queue_next(&r.queue);
		}
		cpu_reader_stop(&r);
	}
	return printf("%llu\n", nr) < 0;
}

int main(int argc, char **argv)
{
	struct out *o = mem_zalloc(1, sizeof(*o));
	struct error error = {};
	struct formats formats;
	struct layout layout;
	struct dat *dat;

	if (argc != 2 && argc < 4)
		return msg_error(NULL, NULL, "usage: generate IN OUT TIMES [entries|packs] "
				 "[zstd|none] [N] [FROM...]");
	dat = dat_open(argv[1], &error);
	if (!dat)
		fail(&error);
	formats_read(&formats, dat);
	if (!layout_find(&layout, &formats, dat, &error))
		fail(&error);
	if (argc == 2)
		return decode(dat, &layout);
	o->packs = argc > 4 && !strcmp(argv[4], "packs");
	if (argc > 5 && !strcmp(argv[5], "zstd")) {
		o->zstd = ZSTD_createCCtx();
		ZSTD_CCtx_setParameter(o->zstd, ZSTD_c_checksumFlag, 1);
	}
	o->drop = argc > 6 ? strtoul(argv[6], NULL, 10) : 0;
	o->wrong = getenv("BTS_WRONG");
	o->shift = getenv("BTS_SHIFT") ? strtoull(getenv("BTS_SHIFT"), NULL, 16) : 0;
	if (getenv("BTS_SMALL"))
		shrink(dat);
	o->formats = &formats;
	o->first = getenv("BTS_FIRST") ? strtoul(getenv("BTS_FIRST"), NULL, 10) : 0;
	o->moves = getenv("BTS_MOVES") ? strtoul(getenv("BTS_MOVES"), NULL, 10) : 0;
	o->idle = getenv("BTS_IDLE");
	if (o->moves || o->idle)
		set_two_cpus(dat);
	o->processes = getenv("BTS_PROCESSES");
	if (o->processes || getenv("BTS_TASKS"))
		o->clones = strtoul(getenv(o->processes ? "BTS_PROCESSES" : "BTS_TASKS"), NULL, 10);
	o->kallsyms = more_symbols(getenv("BTS_KALLSYMS"), dat);
	o->nr_from = argc > 7 && o->drop ? argc - 7 : 0;
	o->from = mem_zalloc(o->nr_from + 1, sizeof(*o->from));
	for (int i = 0; i < o->nr_from; i++)
		o->from[i] = strtoull(argv[7 + i], NULL, 16);
	o->branch_id = layout.branch_id;
	o->pack_id = layout.pack ? layout.pack_id : PACK_ID;
	o->chunk_size = getenv("BTS_INDEX") ? PAGE * strtoul(getenv("BTS_INDEX"), NULL, 10) : CHUNK;
	o->chunk = mem_alloc(CHUNK);
	o->index = open_memstream(&o->index_bytes, &o->index_size);
	o->file = fopen(argv[2], "w");
	if (!o->file)
		return msg_errno("write", argv[2]);
	generate(dat, o, &layout, strtoul(argv[3], NULL, 10));
	if (o->nr_from)
		printf("%lu branches left out or changed\n", o->left_out);
	return fclose(o->file) ? msg_errno("write", argv[2]) : 0;
}
