/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Calls from function to function, with what they cost.
 *
 * Included by: flow/, dump/, cmd/.
 */
#ifndef BTS_ARCS_H
#define BTS_ARCS_H

#include "calls.h"
#include "tally.h"

/**
 * struct arcs - sums of calls
 * @tally:	key: a is the callee, b the caller, b_addr the address of the call (0 if
 *		!@sites). insns and branches are what was executed until the call's end,
 *		calls within calls of the same function counted once
 * @sites:	calls from different places are different
 * @wanted:	only arcs from or to functions of this name; NULL: all
 */
struct arcs {
	struct pipe	*pipe;
	struct tally	tally;
	bool		sites;
	const char	*wanted;
};

/* What the consumer's branch() and row() are to call. */
void arcs_step(struct arcs *a, struct task *t, const struct step *s, uint64_t ts);
void arcs_row(struct arcs *a, struct task *t, const struct row *row);
/* The trace has ended. */
void arcs_end(struct arcs *a);

#endif
