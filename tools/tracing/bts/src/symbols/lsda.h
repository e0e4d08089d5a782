/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where an exception goes: the landing pads of an object's functions.
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
void lsda_free(struct object *o);

#endif
