// SPDX-License-Identifier: GPL-2.0
/*
 * Set up the Debug Store for a test, predict which branches the CPU stores with each filter,
 * and compare records with expected branches.
 */
#include "bare.h"

bool have_ds, have_ds_cpl, have_ap, have_pmu, cpl_after;
struct record records[MAX_RECORDS] PAGE_ALIGNED;
struct ds_area ds0 PAGE_ALIGNED;

/* Set this CPU's DS area. `max` and `threshold` are numbers of records. */
void ds_set(struct ds_area *ds, void *base, u64 max, u64 threshold)
{
	ds->base = (u64)base;
	ds->index = (u64)base;
	ds->maximum = (u64)base + max * RECORD_SIZE;
	ds->threshold = (u64)base + threshold * RECORD_SIZE;
	wrmsr(IA32_DS_AREA, (u64)ds);
}

/* Set up a buffer that is larger than any branch test needs. */
void ds_default(void)
{
	ds_set(&ds0, records, MAX_RECORDS, MAX_RECORDS + 1);
}

u64 ds_count(const struct ds_area *ds)
{
	return (ds->index - ds->base) / RECORD_SIZE;
}

/*
 * Report whether the CPU must store the branch. The filters apply to the CPL before the branch
 * or, with x-bts-cpl-after, to the CPL after the branch.
 */
bool model_stores(u64 debugctl, const struct branch *branch)
{
	u64 cpl = cpl_after ? branch->cpl_to : branch->cpl_from;

	if ((debugctl & TR_BTS) != TR_BTS)
		return false;
	return !(debugctl & (cpl ? DEBUGCTL_BTS_OFF_USR : DEBUGCTL_BTS_OFF_OS));
}

void compare(const struct branch *expect, u64 n_expect, const struct record *got,
	     u64 n_got)
{
	u64 i;

	for (i = 0; i < n_expect && i < n_got; i++) {
		if (expect[i].from == got[i].from && expect[i].to == got[i].to)
			continue;
		fail("record %lu is %lx -> %lx, expected %lx -> %lx", i, got[i].from,
		     got[i].to, expect[i].from, expect[i].to);
		return;
	}
	if (n_expect > n_got)
		fail("%lu records, expected %lu: missing %lx -> %lx", n_got, n_expect,
		     expect[i].from, expect[i].to);
	if (n_expect < n_got)
		fail("%lu records, expected %lu: extra %lx -> %lx", n_got, n_expect,
		     got[i].from, got[i].to);
}

/* Predict the branches of walk(count, seed, ...). Each call of walk_next() returns the next one. */
void walk_start(struct walk *walk, u64 count, u64 seed)
{
	walk->left = count;
	walk->state = seed;
	walk->pad = 0;
}

struct branch walk_next(struct walk *walk)
{
	struct branch branch = { 0, (u64)walk_end, 0, 0 };
	u32 pad = walk->pad;

	walk->state = walk->state * walk_mul + walk_add;
	if (!--walk->left) {
		branch.from = pads[pad].jz;
		return branch;
	}
	walk->pad = walk->state >> 58;
	branch.from = pads[pad].jmp;
	branch.to = pads[walk->pad].start;
	return branch;
}

bool walk_check(struct walk *walk, const struct record *got, u64 n)
{
	struct branch expect;
	u64 i;

	for (i = 0; i < n; i++) {
		expect = walk_next(walk);
		if (expect.from == got[i].from && expect.to == got[i].to)
			continue;
		fail("record %lu is %lx -> %lx, expected %lx -> %lx", i, got[i].from,
		     got[i].to, expect.from, expect.to);
		return false;
	}
	return true;
}
