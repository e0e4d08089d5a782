// SPDX-License-Identifier: GPL-2.0
/*
 * The Branch Trace Store for a driver outside of perf
 *
 * BTS is half of the Debug Store, which perf owns: perf's ds.c, beside this file, maps
 * the buffers into the cpu_entry_area, and sets DS_AREA on each CPU. With a claim perf
 * shares BTS with the driver in arch/x86/kernel/ds.c.
 */

#include <linux/cpufeature.h>
#include <linux/errno.h>
#include <linux/types.h>

#include <asm/perf_event.h>

#include "../perf_event.h"

/**
 * intel_ds_has_bts - is there a Branch Trace Store that can be claimed?
 *
 * Context: Any, once the PMU is initialized.
 * Return: true if there is one, in the 64-bit format.
 */
bool intel_ds_has_bts(void)
{
	/*
	 * Where perf has no PMU driver, it sets up no DS area. There is no interrupt handler
	 * then either. bts_init() may set x86_pmu.bts all the same.
	 */
	return x86_pmu.handle_irq && x86_pmu.bts && boot_cpu_has(X86_FEATURE_DTES64);
}

/**
 * intel_ds_claim_bts - hand the BTS half of the DS area to a driver outside of perf
 *
 * Until intel_ds_release_bts(), DS_AREA is set on every online CPU, those that
 * come online later included, the BTS fields there are the caller's, and events
 * that use BTS or LBR are refused. PEBS and the counters go on. The PMI handler
 * stays active, and so unmasks the LVT entry. One claim at a time.
 *
 * Context: Process context, may sleep.
 * Return: 0; -EBUSY if BTS or LBR is in use; -ENODEV if there is no BTS; -ENOMEM
 * if there is no memory for the buffers.
 */
int intel_ds_claim_bts(void)
{
	int ret;

	if (!intel_ds_has_bts())
		return -ENODEV;

	if (x86_add_exclusive(x86_lbr_exclusive_ds))
		return -EBUSY;

	ret = x86_reserve_hardware();
	if (ret)
		goto err_exclusive;

	if (!x86_pmu.bts_active) {
		ret = -ENOMEM;
		goto err_hardware;
	}
	return 0;

err_hardware:
	x86_release_hardware();
err_exclusive:
	x86_del_exclusive(x86_lbr_exclusive_ds);
	return ret;
}

/**
 * intel_ds_release_bts - undo intel_ds_claim_bts()
 *
 * Context: Process context, may sleep. BTS is off on every CPU.
 */
void intel_ds_release_bts(void)
{
	x86_release_hardware();
	x86_del_exclusive(x86_lbr_exclusive_ds);
}
