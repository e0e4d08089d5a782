/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Read the vDSO of the running kernel.
 *
 * Included by: symbols/.
 */
#ifndef BTS_VDSO_H
#define BTS_VDSO_H

#include <stddef.h>
#include <sys/types.h>

/* Read the vDSO (an ELF image) of a process. Return NULL on failure. The caller frees the vDSO. */
void *vdso_read(pid_t pid, size_t *size);
/* Start a 32-bit process to read the vDSO of 32-bit tasks. */
void *vdso_read32(size_t *size);

#endif
