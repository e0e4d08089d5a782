/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The vDSO of the running kernel.
 *
 * Included by: symbols/.
 */
#ifndef BTS_VDSO_H
#define BTS_VDSO_H

#include <stddef.h>
#include <sys/types.h>

/* Read the vDSO of a process, as the file that it is. Return NULL if there is none. To be freed. */
void *vdso_read(pid_t pid, size_t *size);
/* The same of 32-bit tasks. It starts a process. */
void *vdso_read32(size_t *size);

#endif
