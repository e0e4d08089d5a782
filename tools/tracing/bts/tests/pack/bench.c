// SPDX-License-Identifier: GPL-2.0
/*
 * Measure the size of packed branches, and the speed of the coder and the decoder
 *
 *	pack_bench ID FILE...
 *
 * Each file is the output of per_cpu/cpuN/trace_pipe_raw, from a trace in which each branch has its
 * own entry. The sub-buffers have 4096 bytes. ID is the event's number in
 * events/ftrace/bts_branch/format. The branches are packed in batches of 256, 512 and 1024, as if
 * the hardware had raised an interrupt after each batch. A task switch also ends a batch. The
 * printed size includes the whole entry and the ring buffer's header before the entry. Each speed
 * is the highest of five measurements, in millions of branches per second, on one core, with
 * batches of 512.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bts/pack.h"

#define PAGE		4096
#define ROUNDS		5

/* Sizes of the ring buffer's event header, and of a bts_pack entry without the packed branches. */
#define EVENT_HEAD	4
#define ENTRY_HEAD	35

/* The maximum number of bytes of packed branches in one sub-buffer. */
#define MAX_CODE	(PAGE - 16 - 8 - ENTRY_HEAD)

struct branches {
	struct ds_bts_record	*rec;	/* the benchmark keeps the task's PID in `flags` */
	size_t			nr;
};

struct pack {
	u64		from;
	unsigned int	nr;
	unsigned int	len;
	size_t		code;
};

struct packs {
	struct pack	*pack;
	size_t		nr;
	u8		*code;
	size_t		len;
};

static struct bts_coder coder;
static struct bts_decoder decoder;

static void __attribute__((noreturn)) die(const char *what)
{
	fprintf(stderr, "pack_bench: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* Return the CPU time of this process in seconds. */
static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void *grow(void *p, size_t nr, size_t size)
{
	/* The size of the array is a power of two, and doubles when the array is full. */
	if (nr & (nr - 1))
		return p;
	p = realloc(p, (nr ? 2 * nr : 1) * size);
	if (!p)
		die("memory");
	return p;
}

static void add_entry(struct branches *b, unsigned int id, const u8 *entry)
{
	struct ds_bts_record *rec;

	if ((entry[0] | entry[1] << 8) != (int)id)
		return;
	b->rec = grow(b->rec, b->nr, sizeof(*b->rec));
	rec = &b->rec[b->nr++];
	memcpy(&rec->from, entry + 8, 8);
	memcpy(&rec->to, entry + 16, 8);
	rec->flags = 0;
	memcpy(&rec->flags, entry + 4, 4);
}

/* The header of an event is described in include/linux/ring_buffer.h. */
static void add_page(struct branches *b, unsigned int id, const u8 *page)
{
	const u8 *p = page + 16, *end;
	u32 head, len;
	u64 commit;

	memcpy(&commit, page + 8, 8);
	commit &= 0xfffff;
	if (commit > PAGE - 16)
		return;
	for (end = p + commit; end - p >= EVENT_HEAD + 24; p += EVENT_HEAD + len) {
		memcpy(&head, p, 4);
		memcpy(&len, p + 4, 4);
		switch (head & 31) {
		case 0:
			break;
		case 29:
			if (!(head >> 5))
				return;
			break;
		case 30:
		case 31:
			len = 4;
			break;
		default:
			len = (head & 31) * 4;
			add_entry(b, id, p + 4);
		}
	}
}

static struct branches read_file(const char *name, unsigned int id)
{
	struct branches b = { 0 };
	FILE *f = fopen(name, "rb");
	static u8 page[PAGE];

	if (!f)
		die(name);
	while (fread(page, PAGE, 1, f) == 1)
		add_page(&b, id, page);
	if (ferror(f))
		die(name);
	fclose(f);
	if (b.nr)
		return b;
	errno = ENODATA;
	die(name);
}

/* Return: the size of the batch at @first: up to @n records, all of the same task. */
static size_t batch_of(const struct branches *b, size_t first, size_t n)
{
	size_t end = first + n < b->nr ? first + n : b->nr, i;

	for (i = first + 1; i < end && b->rec[i].flags == b->rec[first].flags; i++)
		;
	return i - first;
}

/* Return: the size of all entries in bytes. */
static size_t make_packs(const struct branches *b, size_t n, struct packs *packs)
{
	size_t first, end, bytes = 0;
	struct pack *pack;
	size_t len;

	packs->nr = 0;
	packs->len = 0;
	for (first = 0; first < b->nr; ) {
		end = first + batch_of(b, first, n);
		while (first < end) {
			bts_coder_begin(&coder, packs->code + packs->len, MAX_CODE);
			first += bts_coder_add_all(&coder, b->rec + first, end - first);
			len = bts_coder_end(&coder);
			pack = &packs->pack[packs->nr++];
			*pack = (struct pack){ coder.from, coder.nr, len, packs->len };
			packs->len += len;
			bytes += EVENT_HEAD + ((ENTRY_HEAD + len + 3) & ~3UL);
		}
	}
	return bytes;
}

/* Return: true if the decoder returns the branches that were packed. */
static bool check_packs(const struct packs *packs, const struct branches *b)
{
	static struct bts_pair out[BTS_PACK_MAX];
	const struct ds_bts_record *rec = b->rec;
	const struct pack *pack;
	unsigned int i;

	for (pack = packs->pack; pack < packs->pack + packs->nr; pack++) {
		bts_decoder_begin(&decoder, packs->code + pack->code, pack->len, pack->from,
				  pack->nr);
		if (bts_decoder_rest(&decoder, out, BTS_PACK_MAX) != pack->nr ||
		    bts_decoder_damaged(&decoder))
			return false;
		for (i = 0; i < pack->nr; i++, rec++)
			if (out[i].from != rec->from || out[i].to != rec->to)
				return false;
	}
	return rec == b->rec + b->nr;
}

static double coding_speed(const struct branches *b, struct packs *packs)
{
	double begin, best = 0, speed;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		begin = now();
		make_packs(b, 512, packs);
		speed = b->nr / (now() - begin) / 1e6;
		if (speed > best)
			best = speed;
	}
	return best;
}

static double decoding_speed(const struct branches *b, const struct packs *packs)
{
	static struct bts_pair out[BTS_PACK_MAX];
	double begin, best = 0, speed;
	const struct pack *pack;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		begin = now();
		for (pack = packs->pack; pack < packs->pack + packs->nr; pack++) {
			bts_decoder_begin(&decoder, packs->code + pack->code, pack->len,
					  pack->from, pack->nr);
			bts_decoder_rest(&decoder, out, BTS_PACK_MAX);
		}
		speed = b->nr / (now() - begin) / 1e6;
		if (speed > best)
			best = speed;
	}
	return best;
}

static void bench(const char *name, unsigned int id, double *sums)
{
	static const size_t batches[] = { 256, 512, 1024 };
	struct branches b = read_file(name, id);
	struct packs packs = { 0 };
	const char *base = strrchr(name, '/');
	double value[5];
	int i;

	packs.pack = malloc(b.nr * sizeof(*packs.pack));
	packs.code = malloc(b.nr * BTS_PACK_WORST + MAX_CODE);
	if (!packs.pack || !packs.code)
		die("memory");
	for (i = 0; i < 3; i++) {
		value[i] = (double)make_packs(&b, batches[i], &packs) / b.nr;
		if (check_packs(&packs, &b))
			continue;
		fprintf(stderr, "pack_bench: %s: the decoded branches are wrong\n", name);
		exit(1);
	}
	value[3] = coding_speed(&b, &packs);
	value[4] = decoding_speed(&b, &packs);
	for (i = 0; i < 5; i++)
		sums[i] += value[i];
	printf("%-12s %10zu %8.2f %8.2f %8.2f %8.0f %8.0f\n", base ? base + 1 : name, b.nr,
	       value[0], value[1], value[2], value[3], value[4]);
	free(b.rec);
	free(packs.pack);
	free(packs.code);
}

int main(int argc, char **argv)
{
	double sums[5] = { 0 };
	unsigned int id;
	int i, n = argc - 2;

	if (argc < 3) {
		fprintf(stderr, "Usage: pack_bench ID FILE...\n");
		return 2;
	}
	id = atoi(argv[1]);
	printf("%-12s %10s %26s %17s\n", "", "", "bytes/branch by batch size", "million/s");
	printf("%-12s %10s %8s %8s %8s %8s %8s\n", "", "branches", "256", "512", "1024",
	       "code", "decode");
	for (i = 2; i < argc; i++)
		bench(argv[i], id, sums);
	printf("%-12s %10s %8.2f %8.2f %8.2f %8.0f %8.0f\n", "mean", "", sums[0] / n,
	       sums[1] / n, sums[2] / n, sums[3] / n, sums[4] / n);
	return 0;
}
