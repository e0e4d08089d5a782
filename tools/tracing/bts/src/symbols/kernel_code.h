/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's code as it runs, kept beside a trace.
 *
 * Included by: symbols/, cmd/.
 */
#ifndef BTS_KERNEL_CODE_H
#define BTS_KERNEL_CODE_H

struct kernel_code;

/* As it is now; NULL after a warning. To be freed. */
struct kernel_code *kernel_code_take(void);
void kernel_code_free(struct kernel_code *code);

/*
 * Puts it beside the trace, with what was another one @before tracing went on; or, with
 * NULL, as the one of later. Warns and goes on: the trace itself is whole.
 */
void kernel_code_save(const char *trace, const struct kernel_code *before);

#endif
