/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Find exception landing pads and function addresses in the unwinder's tables.
 *
 * Included by: flow/, symbols/.
 */
#ifndef BTS_LSDA_H
#define BTS_LSDA_H

#include "object.h"

/*
 * Report whether @pad is the landing pad for exceptions from the call at @site. @pad and @site are
 * addresses in the object.
 */
bool lsda_leads(struct object *o, uint64_t site, uint64_t pad);
/* Call @each for each function in the tables. */
void lsda_each(struct object *o, void (*each)(void *ctx, uint64_t begin, uint64_t end), void *ctx);
void lsda_free(struct object *o);

#endif
