/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which condition in the kernel has made a system call fail.
 *
 * Included by: why/, cmd/why.c.
 */
#ifndef BTS_WHY_RANK_H
#define BTS_WHY_RANK_H

#include "diff/find.h"
#include "trail.h"

/**
 * struct reason - where a system call may have been refused
 * @condition:	the jump, or NULL: the difference is of another kind
 * @difference:	from the call that succeeded, or NULL. It may be before @condition: the failed
 *		call has gone on alone
 * @parted:	the difference is at @condition itself
 * @order:	of time
 * @weight:	the greater, the likelier
 */
struct reason {
	const struct condition	*condition;
	const struct difference	*difference;
	bool			parted;
	size_t			order;
	unsigned int		weight;
};

/**
 * struct ranking - why a system call failed
 * @failed:	the call
 * @good:	one of the same number that succeeded, and most like it, or NULL
 * @goods:	so many succeeded
 * @differences: of the two
 * @trail:	of the failed one
 * @list:	the likeliest first
 */
struct ranking {
	const struct system_call	*failed;
	const struct system_call	*good;
	size_t				goods;
	struct differences		differences;
	struct trail			trail;
	struct reason			*list;
	size_t				nr;
};

/* @alone: without a call that succeeded. */
void rank(struct ranking *r, struct history *h, const struct system_call *failed, bool alone);
void ranking_free(struct ranking *r);

/* show.c: @rows: so many reasons; 0: all. */
void why_show(const struct history *h, const struct ranking *r, unsigned long rows, FILE *out);
void why_show_json(const struct history *h, const struct ranking *r, FILE *out);
/* The error's name, "ENOENT", or its number. */
void errno_text(char *buffer, size_t size, int error);

#endif
