/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A model of the hardware, for the KUnit tests of the BTS driver
 *
 * The model fills a Debug Store. Record n contains a branch from DS_TEST_KERNEL + 1000 + n to
 * DS_TEST_KERNEL + 2000 + n. Some tests also store other records.
 */
#ifndef _ARCH_X86_KERNEL_DS_KUNIT_H
#define _ARCH_X86_KERNEL_DS_KUNIT_H

#include <kunit/test.h>

#include <asm/idtentry.h>

#include "ds_internal.h"

/* The number of slots in the model's buffer. It deliberately differs from perf's 2730. */
#define DS_TEST_SLOTS	1001U

#define DS_TEST_KERNEL	0xffffffff00000000UL
#define DS_TEST_USER	0x401000UL

/* Addresses of the interrupted instruction, the NMI entry, and the entry of another interrupt. */
#define DS_TEST_IP	(DS_TEST_KERNEL + 0x100)
#define DS_TEST_ENTRY	((unsigned long)asm_exc_nmi)
#define DS_TEST_OTHER	(DS_TEST_KERNEL + 0x200)

struct ds_test {
	struct debug_store	ds;
	struct ds_bts_record	*slot;
	struct ds_bts_cpu	cpu;
	struct ds_bts_batch	batch;
	u64			stored;
	unsigned int		late;
	unsigned long		ip;
	bool			circular;
	bool			lazy;
};

int ds_test_init(struct kunit *test);
void ds_test_start(struct ds_test *t, unsigned int slots, unsigned int rest);
void ds_test_store(struct ds_test *t, u64 from, u64 to);
void ds_test_store_nr(struct ds_test *t, unsigned int nr);
u64 ds_test_place(void);
void ds_test_enter(struct ds_test *t);
void ds_test_leave(struct ds_test *t);
void ds_test_drain(struct ds_test *t);
void ds_test_expect(struct kunit *test, unsigned int first, unsigned int nr);

#endif /* _ARCH_X86_KERNEL_DS_KUNIT_H */
