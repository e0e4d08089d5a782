/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Find the emulated machine of bts record --backend vm, and pass the user's identity and
 * environment to the machine.
 *
 * Included by: record/, cmd/.
 */
#ifndef BTS_VM_H
#define BTS_VM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Advice to print if vm_find() returns NULL. */
#define VM_ADVICE "install the package bts-vm, or set BTS_VM to machine/vm/run of a built source tree"

/* The maximum number of CPUs, which is CONFIG_NR_CPUS of the machine's kernel. */
enum { VM_CPUS = 8 };

/* The options of the machine. An option that was not given is 0 or NULL. */
struct vm_options {
	unsigned long	smp;		/* number of CPUs */
	unsigned long	mem;		/* MiB */
	const char	*cpu;		/* model */
	const char	**writable;	/* directories, NULL-terminated */
	bool		icount;
};

/* The user who runs the command, and the trace's name, which appears in messages. */
struct vm_job {
	char	*name;
	uid_t	uid;
	gid_t	gid;
	gid_t	*groups;
	size_t	nr_groups;
};

/* Find the program that runs a command in the machine. Return its path, or NULL. */
char *vm_find(void);
/* Return a job: @name and this process's user, groups, umask, environment. The caller frees it. */
char *vm_job_write(const char *name, size_t *size);
/* Read a job, and set the environment and umask. On failure, print a message and return NULL. */
struct vm_job *vm_job_read(const char *path);
/* In the child, switch to the job's user and groups. On failure, return -1 and set errno. */
int vm_job_become(const struct vm_job *job);

/* After a SIGILL in the machine, print the CPU model and the option that selects another model. */
void vm_advise_model(void);

#endif
