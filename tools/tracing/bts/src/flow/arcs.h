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
 * @tally:	key: a is the callee, b the caller, b_addr the address of the call (0 if
 *		!@sites). insns and branches include the callees; if a function calls itself,
 *		only its outermost call counts them
 * @sites:	count calls from different places separately
 * @wanted:	count only calls from or to functions of this name; NULL: all calls
 */
struct arcs {
	struct pipe	*pipe;
	struct tally	tally;
	bool		sites;
	const char	*wanted;
};

/* Call these from the consumer's branch() and row(). */
void arcs_step(struct arcs *a, struct task *t, const struct step *s, uint64_t ts);
void arcs_row(struct arcs *a, struct task *t, const struct row *row);
/* Call this at the end of the trace. */
void arcs_end(struct arcs *a);

#endif
