/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of bts record.
 *
 * Included by: record/, cmd/.
 */
#ifndef BTS_RECORD_H
#define BTS_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "instance.h"

/* What records: our tracer, or perf where the kernel does not have it, in one of two ways. */
enum record_backend { BACKEND_ANY, BACKEND_TRACER, BACKEND_PERF, BACKEND_INTEL_BTS };

/* What was asked for, in options.c. */
struct record_options {
	const char	*output;
	const char	*cpus;		/* "0-2,5", or NULL */
	const char	*on;		/* what the flight recorder is written at, or NULL */
	const char	**events;	/* up to a NULL */
	pid_t		*pids;
	size_t		nr_pids;
	char		**command;	/* up to a NULL, or NULL */
	uint64_t	buffer_kb;	/* for each CPU; 0: as much as is good */
	unsigned long	rearm;
	const char	*as;		/* the user of the command, with @uid and @gid, or NULL */
	uid_t		uid;		/* ours, if there is none */
	gid_t		gid;
	enum record_backend backend;
	unsigned long	repeat;		/* so many runs of the command; 0: one */
	unsigned long	until_fail;	/* or until so many have failed; 0: all */
	bool		user, kernel;
	bool		all;
	bool		flight;
	bool		circular;	/* the hardware's own buffer is the flight recorder */
	bool		no_block;
	bool		fork;		/* the trace begins before the command's exec() */
};

/* Parses. -1: help was printed; else STATUS_OK or STATUS_MISUSE. */
int record_parse(struct record_options *options, int argc, char **argv);

/* The tasks that are traced, in targets.c. */
struct targets {
	struct target	*list;
	size_t		nr;
	pid_t		child;		/* the command, or 0 */
	int		go;		/* lets it go */
	int		failed;		/* brings the errno, if it cannot be executed */
	int		error;		/* errno, if it could not be executed */
	int		status;		/* as of waitpid(), when it has ended */
	bool		ended;
};

/* Forks the command, which waits, and finds the PIDs. 0, or -1 after a message. INST: --fork's. */
int targets_prepare(struct targets *targets, const struct instance *inst,
		    const struct record_options *options);
/* Notes that the command cannot be executed because of @error. -1 after a message. */
int targets_cannot_execute(struct targets *targets, const char *name, int error);
/* Writes them where INST has its PIDs. */
int targets_write(const struct targets *targets, const struct instance *inst,
		  const struct record_options *options);
/* The command goes, and tracing with its exec(). -1 after a message if it cannot be executed. */
int targets_go(struct targets *targets, const struct instance *inst,
	       const struct record_options *options);
/*
 * A descriptor each that is readable when the task has ended; -1 for one that is known to
 * have.
 */
int targets_fd(const struct targets *targets, size_t i);
/* Notes that the task has ended. True if none is left. */
bool targets_note_end(struct targets *targets, size_t i);
/* Ends the command, if it has not, and frees all. */
void targets_finish(struct targets *targets);

/* Can this user record with the tracer? Says nothing. */
bool record_has_tracer(void);
/* The instance, in setup.c. Both 0, or -1 after a message. */
int record_check(void);
int record_setup(const struct instance *inst, const struct record_options *options);
/* The names of the systems of all events that are enabled, up to a NULL; to be freed. */
char **record_systems(const struct instance *inst);
/* "key: value" lines: user, date, machine, and how it was recorded. INST: NULL with perf. */
char *record_describe(const struct instance *inst, const struct record_options *options);

/* What the flight recorder is written at, in on.c. */
/* Is that something to wait for? STATUS_MISUSE after a message if not. */
int on_parse(const char *on);
/* Before there is an instance: what is to be removed after it. */
void on_prepare(const struct record_options *options);
int on_arm(const struct instance *inst, const struct record_options *options);

#endif
