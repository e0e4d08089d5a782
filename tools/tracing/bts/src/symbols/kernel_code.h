/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Save the code of the running kernel beside a trace.
 *
 * Included by: symbols/, cmd/.
 */
#ifndef BTS_KERNEL_CODE_H
#define BTS_KERNEL_CODE_H

struct kernel_code;

/* Read the current code. The caller frees the result. On failure, warn and return NULL. */
struct kernel_code *kernel_code_take(void);
void kernel_code_free(struct kernel_code *code);

/*
 * @before is the code that kernel_code_take() read when the recording started. Save the current
 * code as kcore, and the old contents of changed pages as kcore.before. If @before is NULL, only
 * save the current code, as kcore.later. On failure, only warn.
 */
void kernel_code_save(const char *trace, const struct kernel_code *before);

#endif
