/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Search sorted lists. The elements may have any type whose first member is a uint64_t key, for
 * example an address. The keys are in ascending order.
 *
 * Included by: any file.
 */
#ifndef BTS_SORTED_H
#define BTS_SORTED_H

#include <stddef.h>
#include <stdint.h>

/* Count the elements whose key is at most @key. Each of the @nr elements is @size bytes long. */
static inline size_t sorted_upto(const void *list, size_t nr, size_t size, uint64_t key)
{
	size_t low = 0, high = nr, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (*(const uint64_t *)((const char *)list + mid * size) <= key)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

#endif
