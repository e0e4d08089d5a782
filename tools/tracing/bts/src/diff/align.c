// SPDX-License-Identifier: GPL-2.0-only
/*
 * Find the longest common subsequence of two sequences with Myers' algorithm (1986). A path turns a
 * prefix of sequence a into a prefix of sequence b by insertions and deletions. Their number is the
 * path's cost d. A path that ends at position x in a and position y in b is on diagonal k = x - y.
 * For each cost and each diagonal, the search keeps only the path with the largest x and y.
 *
 * To limit time and memory, a search ends when the cost d reaches COST_MAX. A new search then
 * begins at the end of the path that covers the most elements of both sequences. If a second search
 * is necessary, the result may be shorter than the longest common subsequence.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "align.h"

#define COST_MAX	1000

/**
 * struct search - a search that begins at one position in each sequence
 * @far:	far[d][d + k] is the position in @a where the path with cost d ends on diagonal k.
 *		The diagonals for cost d are -d, -d + 2 ... d
 */
struct search {
	const uint64_t	*a;
	const uint64_t	*b;
	long		nr_a;
	long		nr_b;
	long		*far[COST_MAX + 1];
};

static long slide(const struct search *s, long x, long k)
{
	while (x < s->nr_a && x - k < s->nr_b && s->a[x] == s->b[x - k])
		x++;
	return x;
}

/* Return the diagonal (@k - 1 or @k + 1) from which the path with cost @d comes to diagonal @k. */
static long came_from(const struct search *s, long d, long k)
{
	const long *before = s->far[d - 1] + d - 1;

	if (k == -d || (k != d && before[k - 1] < before[k + 1]))
		return k + 1;
	return k - 1;
}

/* Return the position in @a at which the path with cost @d reaches diagonal @k. */
static long begin_of(const struct search *s, long d, long k)
{
	long from = came_from(s, d, k);

	return s->far[d - 1][d - 1 + from] + (from < k);
}

/*
 * Extend each path until its cost is @d. Find the path that covers the most elements of both
 * sequences, and return its diagonal. Set *@done if a path reaches the end of both sequences.
 */
static long one_more(struct search *s, long d, bool *done)
{
	long best = 0, most = -1;
	long *far;

	far = mem_alloc((2 * d + 1) * sizeof(*far));
	s->far[d] = far;
	for (long k = -d; k <= d; k += 2) {
		long x = d ? begin_of(s, d, k) : 0;

		/* Do not extend a path beyond the end of @a or @b. */
		if (x > s->nr_a || x - k > s->nr_b) {
			far[d + k] = x;
			continue;
		}
		x = slide(s, x, k);
		far[d + k] = x;
		if (2 * x - k > most) {
			most = 2 * x - k;
			best = k;
		}
		if (x >= s->nr_a && x - k >= s->nr_b)
			*done = true;
	}
	return best;
}

/* The path of cost @d ends on diagonal @k. Store its matches in @out, and return their number. */
static size_t walk_back(const struct search *s, long d, long k, struct match *out)
{
	size_t nr = 0;

	for (;;) {
		long x = s->far[d][d + k], begin = d ? begin_of(s, d, k) : 0;

		for (; x > begin; x--)
			out[nr++] = (struct match) { x - 1, x - 1 - k };
		if (!d)
			break;
		k = came_from(s, d, k);
		d--;
	}
	for (size_t i = 0; i < nr / 2; i++) {
		struct match m = out[i];

		out[i] = out[nr - 1 - i];
		out[nr - 1 - i] = m;
	}
	return nr;
}

/* Align prefixes at a cost of at most COST_MAX. Set *@x and *@y to the lengths of the prefixes. */
static size_t search(struct search *s, struct match *out, long *x, long *y)
{
	bool done = false;
	long d = 0, k;
	size_t nr;

	for (k = one_more(s, 0, &done); !done && d < COST_MAX; )
		k = one_more(s, ++d, &done);
	*x = s->far[d][d + k];
	*y = *x - k;
	nr = walk_back(s, d, k, out);
	for (; d >= 0; d--)
		free(s->far[d]);
	return nr;
}

size_t align(const uint64_t *a, size_t nr_a, const uint64_t *b, size_t nr_b,
	     struct match *out)
{
	struct search s = {};
	long at_a = 0, at_b = 0, x, y;
	size_t nr = 0;

	while (at_a < (long)nr_a && at_b < (long)nr_b) {
		size_t more;

		s.a = a + at_a;
		s.b = b + at_b;
		s.nr_a = nr_a - at_a;
		s.nr_b = nr_b - at_b;
		more = search(&s, out + nr, &x, &y);
		for (size_t i = 0; i < more; i++) {
			out[nr + i].a += at_a;
			out[nr + i].b += at_b;
		}
		nr += more;
		at_a += x;
		at_b += y;
		if (!x && !y)
			break;
	}
	return nr;
}
