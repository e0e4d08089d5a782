// SPDX-License-Identifier: GPL-2.0-only
/*
 * bts archive: copy all files that bts needs for a trace into the directory FILE.archive. The trace
 * can then be read on another machine, or after the programs have changed.
 *
 * The pipeline (flow/pipeline.h) reads the trace, and loads the programs and libraries. The
 * pipeline also checks whether these files may have changed since the recording. The header
 * symbols/archive.h lists the files of an archive.
 */
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "file/trace_dat.h"
#include "flow/pipeline.h"
#include "lib/mem.h"
#include "lib/msg.h"
#include "lib/names.h"
#include "lib/text.h"
#include "symbols/archive.h"
#include "symbols/kernel_code.h"
#include "cmd.h"
#include "command.h"

static const char usage[] =
"Usage: bts archive [OPTIONS] [FILE]\n"
"\n"
"Saves in FILE.archive all files that bts needs to read a trace: the programs and\n"
"libraries with their debug information, the kernel's code, the vDSO, and the maps and\n"
"dumps of JIT compilers. To read the trace on another machine, copy FILE and FILE.archive.\n"
"\n"
"  -i, --input FILE   the trace (trace.dat)\n"
"  -v, --verbose      print the name of each file\n"
"  -h, --help         this text\n";

struct archived {
	const char	*trace;
	bool		verbose;
	unsigned int	files;
	unsigned int	missing;
	uint64_t	bytes;
	int		status;
};

/* Return ".build-id/ab/cdef" or "root/PATH", followed by @suffix. The caller frees the name. */
static char *id_name(const struct object *object, const char *suffix)
{
	char hex[2 * BUILD_ID_MAX + 1] = "";

	if (!object->build_id_size)
		return mem_format("root%s%s", object->path, suffix);
	for (uint32_t i = 0; i < object->build_id_size; i++)
		sprintf(hex + 2 * i, "%02x", object->build_id[i]);
	return mem_format(".build-id/%.2s/%s%s", hex, hex + 2, suffix);
}

static void put(struct archived *all, const char *name, const void *data, size_t size,
		const char *path)
{
	/*
	 * Skip a file that the archive already contains. The name identifies the file, because the
	 * name contains the build ID or, if the file has none, the path.
	 */
	if (!archive_has(all->trace, name) && archive_put(all->trace, name, data, size))
		all->status = STATUS_FAILURE;
	if (all->verbose)
		printf("%s: %s\n", path, name);
	all->files++;
	all->bytes += size;
}

static void put_debug(struct archived *all, const struct object *object)
{
	char *name = id_name(object, ".debug");

	if (!archive_has(all->trace, name)) {
		if (archive_copy(all->trace, name, object->debug_path, 0))
			all->status = STATUS_FAILURE;
		if (all->verbose)
			printf("%s\n", object->debug_path);
		all->files++;
	}
	free(name);
}

/* Copy a JIT compiler's dump. The copy's name contains the PID, because a dump has no build ID. */
static void put_dump(struct archived *all, const struct object *object, int64_t ended)
{
	const char *why = "the file cannot be read";
	char *name = mem_format("jit-%d.dump", object->tgid);
	struct stat st;

	if (!lstat(object->path, &st) && S_ISREG(st.st_mode))
		why = archive_doubt(&st, geteuid(),
				    object_is_mapped(object, &st) ? INT64_MAX : ended);
	if (why) {
		msg_warn("%s: not archived, because %s", object->path, why);
		all->missing++;
	} else if (archive_copy(all->trace, name, object->path, O_NOFOLLOW)) {
		all->status = STATUS_FAILURE;
	} else {
		all->files++;
		all->bytes += st.st_size;
	}
	free(name);
}

static void put_object(struct archived *all, const struct object *object, int64_t ended)
{
	static const char * const why[] = {
		[OBJECT_PROVEN]		= "has no usable path",
		[OBJECT_UNPROVEN]	= "may have changed since the recording",
		[OBJECT_CHANGED]	= "has changed since the recording",
		[OBJECT_MISSING]	= "cannot be read",
	};
	char *name;

	if (object->path[0] != '/' || object->path[1] == '/' || object->kernel)
		return;
	if (jit_is_dump(object->path)) {
		put_dump(all, object, ended);
		return;
	}
	/* A malicious path in the trace must not lead outside the archive. */
	if (!object->file || object->proof != OBJECT_PROVEN || strstr(object->path, "/../")) {
		msg_warn("%s: not archived, because the file %s", object->path, why[object->proof]);
		all->missing++;
		return;
	}
	name = id_name(object, "");
	put(all, name, object->file, object->file_size, object->path);
	if (object->build_id_size && object->debug_apart)
		put_debug(all, object);
	free(name);
}

/* Save the running kernel's code if the trace is from a kernel of the same release. */
static void put_kernel(const struct archived *all, const struct pipe *pipe)
{
	struct utsname uts;

	if (!pipe_has_kernel(pipe))
		return;
	uname(&uts);
	if (!archive_has(all->trace, "kcore") && !geteuid() && pipe->objects.uname &&
	    strstr(pipe->objects.uname, uts.release))
		kernel_code_save(all->trace, NULL);
}

static void put_tasks(const struct archived *all, const struct pipe *pipe)
{
	struct names names = {};

	/* Keep a vDSO that is already archived: this machine's vDSO may be a different one. */
	if (!archive_has(all->trace, "vdso.so")) {
		for (const struct task *task = pipe->tasks; task; task = task->list_next)
			if (task->pid > 0)
				names_get(&names, task->tgid);
		archive_tasks(all->trace, &names, geteuid(), pipe->objects.ended);
	}
	names_free(&names);
}

static int run(const char *trace, bool verbose)
{
	struct archived all = { .trace = trace, .verbose = verbose };
	struct options options = { .path = (char *)trace };
	struct pipe pipe = {};

	if (!pipe_open(&pipe, trace, &options))
		return STATUS_FAILURE;
	/* Create the directory now, so that a failure is reported once and not for each file. */
	if (!archive_make(trace)) {
		pipe_close(&pipe);
		return STATUS_FAILURE;
	}
	all.status = pipe_run(&pipe);
	for (const struct object *object = pipe.objects.list; object; object = object->next)
		put_object(&all, object, pipe.objects.ended);
	put_kernel(&all, &pipe);
	put_tasks(&all, &pipe);
	if (pipe_close(&pipe))
		all.status = STATUS_FAILURE;
	printf("%s.archive: %u file%s, %s bytes; %u missing\n", trace, all.files,
	       text_plural(all.files, "s"), text_commas(all.bytes), all.missing);
	return all.status;
}

int cmd_archive(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "input",	required_argument,	NULL, 'i' },
		{ "verbose",	no_argument,		NULL, 'v' },
		{ "help",	no_argument,		NULL, 'h' },
		{}
	};
	const char *trace = DAT_NAME;
	bool verbose = false;
	int option;

	while ((option = getopt_long(argc, argv, "i:vh", longs, NULL)) != -1) {
		switch (option) {
		case 'i':
			trace = optarg;
			break;
		case 'v':
			verbose = true;
			break;
		case 'h':
			return msg_usage(usage);
		default:
			return STATUS_MISUSE;
		}
	}
	if (command_trace_name(&trace, "archive", argc, argv))
		return STATUS_MISUSE;
	return run(trace, verbose);
}
