/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The probe: a program whose branches are known, and its comparison with its trace.
 *
 * Included by: record/, cmd/check.c.
 */
#ifndef BTS_PROBE_H
#define BTS_PROBE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A branch that probe_run() takes. An end in the kernel is 0, or, for TO, has the name of
 * the kernel's symbol at which it must be.
 */
struct probe_branch {
	uint64_t	from, to;
	const char	*kernel_to;
	const char	*words;
};

/* In probe_code.S. */
extern const struct probe_branch probe_branches[], probe_branches_end[];
extern const char probe_start[], probe_end[], probe_handler[], probe_restorer[];
/* Executes them once. PAGE is one that is mapped and has not been touched. */
void probe_run(void *page);

/* Runs it under the tracer in all ways, and prints what came of it. True if all is well. */
bool probe_machine(void);

#endif
