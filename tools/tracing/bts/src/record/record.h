/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions of bts record. Unless noted otherwise, each prints a message and returns -1 on failure.
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
#include "vm.h"

/* A recording uses the tracer, one of two perf events, or the tracer in the emulated machine. */
enum record_backend { BACKEND_ANY, BACKEND_TRACER, BACKEND_PERF, BACKEND_INTEL_BTS, BACKEND_VM };

/* options.c: the options of bts record. */
struct record_options {
	const char	*output;
	const char	*cpus;		/* "0-2,5", or NULL */
	const char	*on;		/* the event that stops a flight recorder, or NULL */
	const char	**events;	/* NULL-terminated, or NULL */
	pid_t		*pids;
	size_t		nr_pids;
	char		**command;	/* NULL-terminated, or NULL */
	uint64_t	buffer_kb;	/* buffer size on each CPU, or 0 for the default */
	unsigned long	rearm;
	const char	*as;		/* name of the user who runs the command, or NULL */
	uid_t		uid;		/* the user ID from @as or @job, otherwise bts's own */
	gid_t		gid;
	enum record_backend backend;
	struct vm_options vm;
	const struct vm_job *job;	/* NULL outside the emulated machine */
	unsigned long	repeat;		/* number of runs of the command, or 0 without --repeat */
	unsigned long	until_fail;	/* stop after this number of failed runs, unless 0 */
	bool		user, kernel;
	bool		all;
	bool		flight;
	bool		circular;	/* --flight without SIZE: keep branches in the DS buffer */
	bool		no_block;
	bool		fork;		/* the trace begins before the command's exec() */
};

/* Parse the options. Return STATUS_OK, STATUS_MISUSE, or -1 if the help was printed. */
int record_parse(struct record_options *options, int argc, char **argv);

/* targets.c: the targets. */
struct targets {
	struct target	*list;
	size_t		nr;
	pid_t		child;		/* PID of the command, or 0 */
	int		go;		/* a pipe; a byte in it starts the command */
	int		failed;		/* a pipe that returns the errno of a failed exec() */
	int		error;		/* the errno of a failed exec(), or 0 */
	int		status;		/* from waitpid(), if @ended */
	bool		ended;
};

/* Fork a child that waits to run the command. Open the targets' pidfds. Only --fork uses @inst. */
int targets_prepare(struct targets *targets, const struct instance *inst,
		    const struct record_options *options);
/* Store @error, print a message that the command cannot be executed, and return -1. */
int targets_cannot_execute(struct targets *targets, const char *name, int error);
/* Write the targets' PIDs into the instance's PID filters. With -a, trace all tasks but bts. */
int targets_write(const struct targets *targets, const struct instance *inst,
		  const struct record_options *options);
/* Start tracing at the command's exec(), or earlier with --fork. Without a command, start now. */
int targets_go(struct targets *targets, const struct instance *inst,
	       const struct record_options *options);
/* Return target @i's pidfd. It becomes readable at @i's end, and is -1 after targets_note_end(). */
int targets_fd(const struct targets *targets, size_t i);
/* Return true if there are targets and all of them have ended. */
bool targets_ended(const struct targets *targets);
/* Close the pidfd of target @i, which has ended. Return true if all targets have ended. */
bool targets_note_end(struct targets *targets, size_t i);
/* End the command if it is still running, and free all targets. */
void targets_finish(struct targets *targets);

/* setup.c: return whether this user can record with the tracer. Do not print a message. */
bool record_has_tracer(void);
/* Check that the kernel has the tracer, and set up the instance. */
int record_check(void);
int record_setup(struct instance *inst, const struct record_options *options);
/* Return a NULL-terminated list of event systems with enabled events. The caller frees the list. */
char **record_systems(const struct instance *inst);
/* Return "key: value" lines about the user, date, machine and options. With perf, @inst is NULL. */
char *record_describe(const struct instance *inst, const struct record_options *options);

/* on.c: check the value of --on. If it is invalid, print a message and return STATUS_MISUSE. */
int on_parse(const char *on);
/* If --on needs a probe, let undo.c remove it at the end. Call this before instance_create(). */
void on_prepare(const struct record_options *options);
int on_arm(const struct instance *inst, const struct record_options *options);

#endif
