/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bts record --repeat: the same command, again and again.
 *
 * Included by: cmd/record*.
 */
#ifndef BTS_RECORD_REPEAT_H
#define BTS_RECORD_REPEAT_H

#include "record/record.h"

/**
 * struct record_result - how a recording ended
 * @status:	bts record's own
 * @wait_status: the command's, as of waitpid()
 * @ended:	the command has ended by itself
 */
struct record_result {
	int	status;
	int	wait_status;
	bool	ended;
};

/* Calls @once, each time in a process of its own, and renames what it wrote. */
int record_repeat(const struct record_options *options,
		  struct record_result (*once)(const struct record_options *options));

#endif
