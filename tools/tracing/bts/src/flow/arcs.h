/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Count the calls for each pair of caller and callee, and sum up the cost of these calls.
 *
 * Included by: flow/, dump/, cmd/.
 */
#ifndef BTS_ARCS_H
#define BTS_ARCS_H

#include "calls.h"
#include "tally.h"

/**
 * struct arcs - the number and cost of calls, for each pair of functions
 * @tally:	the sums for each pair of functions. The key contains the callee (a), the caller (b)
 *		and the address of the call (b_addr). If @sites is false, b_addr is 0. The cost of a
 *		call includes the cost of the calls that the callee makes; if a function calls
 *		itself, only the cost of the outermost call is added
 * @sites:	count the calls from each address separately
 * @wanted:	count only calls from or to functions with this name; if NULL, count all calls
 */
struct arcs {
	struct pipe	*pipe;
	struct tally	tally;
	bool		sites;
	const char	*wanted;
};

/* Call arcs_step() and arcs_row() from the consumer's callbacks branch() and row(). */
void arcs_step(struct arcs *a, struct task *t, const struct step *s, uint64_t ts);
void arcs_row(struct arcs *a, struct task *t, const struct row *row);
/* Call arcs_end() at the end of the trace. */
void arcs_end(struct arcs *a);

#endif
