/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where an exception goes: the landing pads of an object's functions; and where these are.
 *
 * Included by: flow/, symbols/.
 */
#ifndef BTS_LSDA_H
#define BTS_LSDA_H

#include "object.h"

/*
 * Does an exception that a call at @site throws, or lets through, land at @pad? Both are
 * addresses as the object counts them.
 */
bool lsda_leads(struct object *o, uint64_t site, uint64_t pad);
/* Call @each for each function that can be unwound. */
void lsda_each(struct object *o, void (*each)(void *ctx, uint64_t begin, uint64_t end), void *ctx);
void lsda_free(struct object *o);

#endif
