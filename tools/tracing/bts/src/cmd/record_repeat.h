/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bts record --repeat: record the same command again and again.
 *
 * Included by: cmd/record*.
 */
#ifndef BTS_RECORD_REPEAT_H
#define BTS_RECORD_REPEAT_H

#include "record/record.h"

/**
 * struct record_result - how a recording ended
 * @status:	if this is not 0, bts record returns this status, for example RECORD_FAILED
 * @wait_status: the command's status, from waitpid()
 * @ended:	whether the command has ended
 */
struct record_result {
	int	status;
	int	wait_status;
	bool	ended;
};

/*
 * For each run, call @once in a child process, then rename the trace (record_repeat.c). Returns
 * STATUS_OK or RECORD_*.
 */
int record_repeat(const struct record_options *options,
		  struct record_result (*once)(const struct record_options *options));

#endif
