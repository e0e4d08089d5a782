/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The emulated machine of bts record --backend vm: where it is, and what the bts in the machine
 * has to know about the user.
 *
 * Included by: record/, cmd/.
 */
#ifndef BTS_VM_H
#define BTS_VM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* What to do if vm_find() returns NULL. */
#define VM_ADVICE "install the package bts-vm, or set BTS_VM to machine/vm/run of a built source tree"

/* The largest number of CPUs: CONFIG_NR_CPUS of the machine's kernel. */
enum { VM_CPUS = 8 };

/* The options of the machine. A number is 0, and a pointer NULL, if the option is not given. */
struct vm_options {
	unsigned long	smp;		/* number of CPUs */
	unsigned long	mem;		/* MiB */
	const char	*cpu;		/* model */
	const char	**writable;	/* directories, ends with a NULL */
	bool		icount;
};

/* The user of the command, and the name of the trace in messages. */
struct vm_job {
	char	*name;
	uid_t	uid;
	gid_t	gid;
	gid_t	*groups;
	size_t	nr_groups;
};

/* Return the path of the program that runs a command in the machine, or NULL. */
char *vm_find(void);
/* Return the text of a job that describes this process. The caller frees the text. */
char *vm_job_write(const char *name, size_t *size);
/* Read a job, and set this process's environment and umask. Return NULL after a message. */
struct vm_job *vm_job_read(const char *path);
/* In the child, take the job's user and groups. Return -1 with errno. */
int vm_job_become(const struct vm_job *job);

/* In the machine, after a SIGILL: name the CPU, and the option that chooses another one. */
void vm_advise_model(void);

#endif
