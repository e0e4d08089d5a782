/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Compare the trace of a program with the program's known branches.
 *
 * Included by: record/, cmd/check.c.
 */
#ifndef BTS_PROBE_H
#define BTS_PROBE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A branch that probe_run() takes. An address of 0 means any address in the kernel. If @to is 0,
 * @kernel_to is the symbol to which the branch must lead, or "" for any kernel address.
 */
struct probe_branch {
	uint64_t	from, to;
	const char	*kernel_to;
	const char	*words;
};

/* These symbols are defined in probe_code.S. */
extern const struct probe_branch probe_branches[], probe_branches_end[];
extern const char probe_start[], probe_end[], probe_handler[], probe_restorer[];
/* Execute all branches once. @page must be mapped, but must not have been accessed yet. */
void probe_run(void *page);

/* Run the probe in all configurations and print the results. Return true if all branches match. */
bool probe_machine(void);

#endif
