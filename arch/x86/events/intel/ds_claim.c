// SPDX-License-Identifier: GPL-2.0
/*
 * Lend the Branch Trace Store (BTS) to a driver outside of perf
 *
 * BTS and PEBS share the Debug Store, which perf owns. ds.c in this folder maps the buffers into
 * the cpu_entry_area and sets DS_AREA on each CPU. A claim lends the BTS half of the Debug Store to
 * the driver in arch/x86/kernel/ds.c.
 */

#include <linux/cpufeature.h>
#include <linux/errno.h>
#include <linux/types.h>

#include <asm/perf_event.h>

#include "../perf_event.h"

/**
 * intel_ds_has_bts - report whether perf can lend the CPU's BTS to the driver
 *
 * Context: Any, once the PMU is initialized.
 * Return: true if the CPU has BTS with 64-bit records, and perf drives the PMU.
 */
bool intel_ds_has_bts(void)
{
	/*
	 * bts_init() may set x86_pmu.bts even if perf does not drive the PMU. In this case,
	 * there is no DS area and no interrupt handler, so also check handle_irq.
	 */
	return x86_pmu.handle_irq && x86_pmu.bts && boot_cpu_has(X86_FEATURE_DTES64);
}

/**
 * intel_ds_claim_bts - lend the BTS half of the DS area to a driver outside of perf
 *
 * The caller owns the BTS fields of the DS area until it calls intel_ds_release_bts(). Until then,
 * perf refuses events that use BTS or LBR and, on some CPUs, events that use Intel PT. perf sets
 * DS_AREA on each online CPU immediately, and on other CPUs when they come online. PEBS and the
 * counters keep working, and perf's PMI handler keeps unmasking the PMI.
 *
 * Context: Process context, may sleep.
 * Return: 0; -EBUSY if perf uses BTS or LBR, or if perf uses Intel PT and the PMU has no
 * lbr_pt_coexist; -ENODEV if there is no BTS; -ENOMEM if perf cannot allocate the buffers.
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
 * Context: Process context, may sleep. BTS must be off on every CPU.
 */
void intel_ds_release_bts(void)
{
	x86_release_hardware();
	x86_del_exclusive(x86_lbr_exclusive_ds);
}
