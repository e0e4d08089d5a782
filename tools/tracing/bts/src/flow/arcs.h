/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Count the calls from function to function, and their cost.
 *
 * Included by: flow/, dump/, cmd/.
 */
#ifndef BTS_ARCS_H
#define BTS_ARCS_H

#include "calls.h"
#include "tally.h"

/**
 * struct arcs - the number and cost of calls from function to function
 * @tally:	the key contains the callee (a), the caller (b) and the address of the call (b_addr,
 *		or 0 if @sites is false). A call's instructions and branches include those of its
 *		callees. If a function calls itself, only its outermost call adds to these sums
 * @sites:	count calls from different addresses separately
 * @wanted:	count only calls from or to functions with this name; if NULL, count all calls
 */
struct arcs {
	struct pipe	*pipe;
	struct tally	tally;
	bool		sites;
	const char	*wanted;
};

/* The consumer's branch() must call arcs_step(), and its row() must call arcs_row(). */
void arcs_step(struct arcs *a, struct task *t, const struct step *s, uint64_t ts);
void arcs_row(struct arcs *a, struct task *t, const struct row *row);
/* Call arcs_end() at the end of the trace. */
void arcs_end(struct arcs *a);

#endif
