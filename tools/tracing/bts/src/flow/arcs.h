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
 * @tally:	the sums of each pair of functions. The key contains the callee (a), the caller (b)
 *		and the address of the call (b_addr, 0 unless @sites). Instructions and branches
 *		include the callee's own calls; if a function calls itself, they are added only for
 *		its outermost call
 * @sites:	count the calls from each address separately
 * @wanted:	count only calls from or to functions with this name; if NULL, count all calls
 */
struct arcs {
	struct pipe	*pipe;
	struct tally	tally;
	bool		sites;
	const char	*wanted;
};

/* Call arcs_step() from the consumer's branch(), and arcs_row() from its row(). */
void arcs_step(struct arcs *a, struct task *t, const struct step *s, uint64_t ts);
void arcs_row(struct arcs *a, struct task *t, const struct row *row);
/* Call arcs_end() at the end of the trace. */
void arcs_end(struct arcs *a);

#endif
