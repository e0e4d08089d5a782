/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Find the condition in the kernel that made a system call fail.
 *
 * Included by: why/, cmd/why.c.
 */
#ifndef BTS_WHY_RANK_H
#define BTS_WHY_RANK_H

#include "diff/find.h"
#include "trail.h"

/**
 * struct reason - a possible reason for the failure
 * @condition:	the conditional jump, or NULL if the difference is not a conditional jump
 * @difference:	a difference between the failed and the good call; NULL if no call succeeded
 * @parted:	true if @difference is at @condition; false if @difference is before @condition
 * @order:	position of the condition in the order of execution
 * @weight:	likelihood of the reason
 */
struct reason {
	const struct condition	*condition;
	const struct difference	*difference;
	bool			parted;
	size_t			order;
	unsigned int		weight;
};

/**
 * struct ranking - the possible reasons for a failure
 * @failed:	the failed call
 * @good:	the successful call most similar to @failed (same system call), or NULL
 * @goods:	number of successful calls of the same system call
 * @differences: differences between @failed and @good
 * @trail:	the conditions that @failed tested, see trail.h
 * @list:	reasons, the most likely first
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

/*
 * Rank the reasons. With @alone, do not compare the failed call with a successful call. If there is
 * not enough memory for a large stack (see large_stack.h), print a message and return false.
 */
bool rank(struct ranking *r, struct history *h, const struct system_call *failed, bool alone);
void ranking_free(struct ranking *r);

/* show.c: print at most @rows reasons, or all reasons if @rows is 0. */
void why_show(const struct history *h, const struct ranking *r, unsigned long rows, FILE *out);
void why_show_json(const struct history *h, const struct ranking *r, FILE *out);
/* Write the name of the error, such as "ENOENT". If the name is unknown, write the number. */
void errno_text(char *buffer, size_t size, int error);

#endif
