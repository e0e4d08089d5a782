// SPDX-License-Identifier: GPL-2.0-only
/*
 * When the flight recorder of bts record is written: the events of --on.
 *
 * All of them become a trace event with a traceoff trigger in our instance: a signal is
 * signal:signal_deliver, the end of a task sched:sched_process_exit, a function of the
 * kernel a kprobe, one of a program a uprobe. A trigger with a condition fires for the
 * PIDs of set_event_pid only, one without for every task; so each has a condition. Probes
 * are global: undo.c removes them after the instance that uses them.
 */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/mem.h"
#include "lib/msg.h"
#include "lib/path.h"
#include "instance.h"
#include "record.h"
#include "undo.h"

#define ALWAYS "common_pid >= 0"

enum on_kind { ON_EVENT, ON_SIGNAL, ON_EXIT, ON_KERNEL, ON_FILE };

/* "WHAT if FILTER" taken apart. */
struct on {
	enum on_kind	kind;
	char		*what;
	char		*filter;
	int		signal;
};

static int signal_number(const char *name)
{
	char *end;
	long number = strtol(name, &end, 10);

	if (end != name && !*end)
		return number > 0 && number < NSIG ? number : -1;
	if (!strncasecmp(name, "SIG", 3))
		name += 3;
	for (int i = 1; i < NSIG; i++)
		if (sigabbrev_np(i) && !strcasecmp(sigabbrev_np(i), name))
			return i;
	return -1;
}

static struct on on_split(const char *text)
{
	const char *filter = strstr(text, " if ");
	struct on on = {
		.what = filter ? mem_format("%.*s", (int)(filter - text), text) : mem_strdup(text),
		.filter = mem_strdup(filter ? filter + 4 : ALWAYS),
	};
	char *colon = strrchr(on.what, ':');

	if (!strcmp(on.what, "exit")) {
		on.kind = ON_EXIT;
	} else if (!strncmp(on.what, "signal:", 7)) {
		on.kind = ON_SIGNAL;
		on.signal = signal_number(on.what + 7);
	} else if (colon && memchr(on.what, '/', colon - on.what)) {
		on.kind = ON_FILE;
	} else {
		on.kind = colon ? ON_EVENT : ON_KERNEL;
	}
	return on;
}

static void on_free(struct on *on)
{
	free(on->what);
	free(on->filter);
}

int on_parse(const char *text)
{
	struct on on = on_split(text);
	int ret = STATUS_OK;

	if (!*on.what || on.what[strlen(on.what) - 1] == ':')
		ret = msg_misuse("record", "--on %s: on what?", text);
	else if (on.kind == ON_SIGNAL && on.signal < 0)
		ret = msg_misuse("record", "--on %s: no such signal", text);
	on_free(&on);
	return ret;
}

/* --- Probes ------------------------------------------------------------------------- */

static char *probe_group(void)
{
	return mem_format("bts_%d", getpid());
}

void on_prepare(const struct record_options *options)
{
	struct on on;

	if (!options->on)
		return;
	on = on_split(options->on);
	if (on.kind == ON_KERNEL || on.kind == ON_FILE) {
		char *path = mem_format("%s/dynamic_events", instance_tracefs());
		char *group = probe_group();
		char *text = mem_format("-:%s/on", group);

		undo_write(path, text);
		free(text);
		free(group);
		free(path);
	}
	on_free(&on);
}

/* The address of a function in one of the tables of symbols. */
static bool find_symbol(Elf *elf, GElf_Word type, const char *name, GElf_Addr *addr)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(elf, scn))) {
		Elf_Data *data = elf_getdata(scn, NULL);
		GElf_Shdr shdr;
		GElf_Sym sym;

		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type != type || !data)
			continue;
		for (int i = 0; gelf_getsym(data, i, &sym); i++) {
			const char *this = elf_strptr(elf, shdr.sh_link, sym.st_name);

			if (this && sym.st_value && !strcmp(this, name)) {
				*addr = sym.st_value;
				return true;
			}
		}
	}
	return false;
}

/* Where in the file that address is; 0 if nowhere. */
static uint64_t file_offset(Elf *elf, GElf_Addr addr)
{
	size_t nr = 0;

	elf_getphdrnum(elf, &nr);
	for (size_t i = 0; i < nr; i++) {
		GElf_Phdr phdr;

		if (gelf_getphdr(elf, i, &phdr) && phdr.p_type == PT_LOAD &&
		    addr >= phdr.p_vaddr && addr - phdr.p_vaddr < phdr.p_filesz)
			return addr - phdr.p_vaddr + phdr.p_offset;
	}
	return 0;
}

static uint64_t function_offset(const char *file, const char *name)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	uint64_t offset = 0;
	GElf_Addr addr;
	Elf *elf;

	if (fd < 0) {
		msg_errno("open", file);
		return 0;
	}
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (elf && (find_symbol(elf, SHT_SYMTAB, name, &addr) ||
		    find_symbol(elf, SHT_DYNSYM, name, &addr)))
		offset = file_offset(elf, addr);
	if (!offset)
		msg_error("find a function", name, "not in %s", file);
	elf_end(elf);
	close(fd);
	return offset;
}

static char *probe_text(const struct on *on, const char *group)
{
	char *colon = strrchr(on->what, ':'), *file, *path, *text;
	uint64_t offset;

	if (on->kind == ON_KERNEL)
		return mem_format("p:%s/on %s", group, on->what);
	file = mem_format("%.*s", (int)(colon - on->what), on->what);
	path = realpath(file, NULL);
	offset = function_offset(path ? path : file, colon + 1);
	text = !offset ? NULL :
	       mem_format("p:%s/on %s:%#llx", group, path, (unsigned long long)offset);
	free(path);
	free(file);
	return text;
}

static char *make_probe(const struct on *on)
{
	char *path = mem_format("%s/dynamic_events", instance_tracefs());
	char *group = probe_group();
	char *text = probe_text(on, group);
	char *event = NULL;

	if (text && path_append(path, text))
		msg_errno("probe", on->what);
	else if (text)
		event = mem_format("%s/on", group);
	free(text);
	free(group);
	free(path);
	return event;
}

/* --- The trigger -------------------------------------------------------------------- */

/*
 * A signal that kills, without a core dump, is delivered as a SIGKILL; where a task of ours
 * sends it, that is seen.
 */
static int arm_sender(const struct instance *inst, const struct on *on)
{
	char *trigger = mem_format("traceoff if sig == %d && (%s)", on->signal, on->filter);
	int ret = instance_append(inst, "events/signal/signal_generate/trigger", trigger);

	free(trigger);
	return ret;
}

/* "SYSTEM/NAME" of the event, to be freed; NULL after a message. */
static char *on_event(const struct on *on)
{
	char *event;

	switch (on->kind) {
	case ON_SIGNAL:
		return mem_strdup("signal/signal_deliver");
	case ON_EXIT:
		return mem_strdup("sched/sched_process_exit");
	case ON_EVENT:
		event = mem_strdup(on->what);
		*strchr(event, ':') = '/';
		return event;
	default:
		return make_probe(on);
	}
}

int on_arm(const struct instance *inst, const struct record_options *options)
{
	char *event, *file, *trigger;
	struct on on;
	int ret = -1;

	if (!options->on)
		return 0;
	on = on_split(options->on);
	event = on_event(&on);
	if (event) {
		file = mem_format("events/%s/trigger", event);
		trigger = on.kind == ON_SIGNAL ?
			  mem_format("traceoff if sig == %d && (%s)", on.signal, on.filter) :
			  mem_format("traceoff if %s", on.filter);
		ret = instance_append(inst, file, trigger);
		if (!ret && on.kind == ON_SIGNAL)
			ret = arm_sender(inst, &on);
		free(trigger);
		free(file);
		free(event);
	}
	on_free(&on);
	return ret;
}
