// SPDX-License-Identifier: GPL-2.0-only
/*
 * Find the emulated machine of bts record --backend vm, and pass the user's identity and
 * environment to the machine.
 *
 *	on the host, as the user	bts record --backend vm -- COMMAND writes the job, and
 *					executes `run`, which starts the machine
 *	in the machine, as root		bts record --vm-job FILE -- COMMAND reads the job, and
 *					executes COMMAND as the user
 *
 * The job is a sequence of words. Each word begins with its type and ends with a NUL. The job also
 * contains the environment, because `run` is a shell script, and a shell would drop variables with
 * unusual names.
 */
#include <grp.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/bytes.h"
#include "lib/mem.h"
#include "lib/msg.h"
#include "lib/path.h"
#include "vm.h"

enum word {
	WORD_ENV	= 'e',	/* NAME=VALUE of the environment */
	WORD_GID	= 'g',
	WORD_GROUP	= 'G',	/* supplementary group */
	WORD_NAME	= 'n',	/* name of the trace */
	WORD_UID	= 'u',
	WORD_UMASK	= 'm',
};

/* The program of the package bts-vm. If bts is DIR/bts, first try DIR/../lib/bts-vm/run. */
#define PACKAGE "/usr/lib/bts-vm/run"

char *vm_find(void)
{
	const char *given = getenv("BTS_VM");
	char exe[PATH_MAX] = "", *path;
	ssize_t length;

	if (given)
		return access(given, X_OK) ? NULL : mem_strdup(given);
	length = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	exe[length > 0 ? length : 0] = 0;
	path = strrchr(exe, '/');
	path = mem_format("%.*s/../lib/bts-vm/run", (int)(path ? path - exe : 0), exe);
	if (!access(path, X_OK))
		return path;
	free(path);
	return access(PACKAGE, X_OK) ? NULL : mem_strdup(PACKAGE);
}

/* --- The job ------------------------------------------------------------------------ */

static void add_number(struct bytes *job, enum word type, unsigned int number)
{
	bytes_format(job, "%c%u", type, number);
	bytes_add8(job, 0);
}

static void add_string(struct bytes *job, enum word type, const char *text)
{
	bytes_add8(job, type);
	bytes_add_string(job, text);
}

char *vm_job_write(const char *name, size_t *size)
{
	int nr = getgroups(0, NULL);
	gid_t *groups = mem_zalloc(nr + 1, sizeof(*groups));
	mode_t mask = umask(0);
	struct bytes job = {};

	umask(mask);
	nr = getgroups(nr, groups);
	add_string(&job, WORD_NAME, name);
	add_number(&job, WORD_UID, geteuid());
	add_number(&job, WORD_GID, getegid());
	for (int i = 0; i < nr; i++)
		add_number(&job, WORD_GROUP, groups[i]);
	add_number(&job, WORD_UMASK, mask);
	for (char **word = environ; *word; word++)
		add_string(&job, WORD_ENV, *word);
	free(groups);
	*size = job.size;
	return job.data;
}

static void add_group(struct vm_job *job, gid_t group)
{
	job->groups = mem_realloc(job->groups, job->nr_groups + 1, sizeof(gid_t));
	job->groups[job->nr_groups++] = group;
}

static void take_word(struct vm_job *job, char *word, char ***env, size_t *nr_env)
{
	unsigned int number = strtoul(word + 1, NULL, 10);

	switch (*word) {
	case WORD_ENV:
		*env = mem_realloc(*env, *nr_env + 2, sizeof(char *));
		(*env)[(*nr_env)++] = word + 1;
		break;
	case WORD_GID:
		job->gid = number;
		break;
	case WORD_GROUP:
		add_group(job, number);
		break;
	case WORD_NAME:
		job->name = word + 1;
		break;
	case WORD_UID:
		job->uid = number;
		break;
	case WORD_UMASK:
		umask(number);
		break;
	}
}

/* The job's text is never freed, because the environment points to words in the text. */
struct vm_job *vm_job_read(const char *path)
{
	size_t size, nr_env = 0;
	char *text = path_read(path, &size);
	struct vm_job *job;
	char **env;

	if (!text) {
		msg_errno("read", path);
		return NULL;
	}
	/* Remove the file now, so that no file remains if bts is killed. */
	unlink(path);
	job = mem_zalloc(1, sizeof(*job));
	job->name = text;
	env = mem_zalloc(1, sizeof(*env));
	for (char *word = text; word < text + size; word += strlen(word) + 1)
		take_word(job, word, &env, &nr_env);
	env[nr_env] = NULL;
	environ = env;
	return job;
}

int vm_job_become(const struct vm_job *job)
{
	struct stat st;

	/* Make the user the owner of pipes and terminals, so that COMMAND can open /dev/stdin. */
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (!fstat(fd, &st) && (S_ISFIFO(st.st_mode) || isatty(fd)) &&
		    fchown(fd, job->uid, job->gid))
			return -1;
	return setgroups(job->nr_groups, job->groups) || setgid(job->gid) || setuid(job->uid) ?
	       -1 : 0;
}

void vm_advise_model(void)
{
	char *text = path_read("/proc/cpuinfo", NULL);
	const char *name = text ? strstr(text, "\nmodel name\t: ") : NULL;

	name = name ? strchr(name, ':') + 2 : "";
	msg_warn("the emulated CPU (%.*s) may lack an instruction; choose a later model, such as "
		 "--vm-cpu Skylake-Client", (int)strcspn(name, "\n"), name);
	free(text);
}
