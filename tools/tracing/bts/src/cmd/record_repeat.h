/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bts record --repeat: the same command, again and again.
 *
 * Included by: cmd/record*.
 */
#ifndef BTS_RECORD_REPEAT_H
#define BTS_RECORD_REPEAT_H

#include "record/record.h"

/* Exit statuses as of env(1), because others are the command's. */
enum {
	RECORD_FAILED		= 125,
	RECORD_NOT_EXECUTED	= 126,
	RECORD_NOT_FOUND	= 127,
};

/**
 * struct record_result - how a recording ended
 * @status:	bts record's own, RECORD_* if it failed
 * @wait_status: the command's, as of waitpid()
 * @ended:	the command has ended by itself
 */
struct record_result {
	int	status;
	int	wait_status;
	bool	ended;
};

/*
 * Calls @once, each time in a process of its own, and renames what it wrote. STATUS_OK or
 * RECORD_*.
 */
int record_repeat(const struct record_options *options,
		  struct record_result (*once)(const struct record_options *options));

#endif
