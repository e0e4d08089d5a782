/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Find the longest common subsequence of two sequences.
 *
 * Included by: diff/.
 */
#ifndef BTS_DIFF_ALIGN_H
#define BTS_DIFF_ALIGN_H

#include <stddef.h>
#include <stdint.h>

struct match {
	size_t	a;
	size_t	b;
};

/* Store at most min(@nr_a, @nr_b) matches in @out. Return the number of matches. */
size_t align(const uint64_t *a, size_t nr_a, const uint64_t *b, size_t nr_b,
	     struct match *out);

#endif
