// SPDX-License-Identifier: GPL-2.0
/*
 * A plugin for libtraceevent that prints each branch of a pack as a row.
 *
 * With the option bts-pack, the bts tracer stores many branches in one entry, a bts_pack. Without
 * this plugin, trace-cmd report prints a bts_pack as one row, with the number of branches, and the
 * first and the last address. With this plugin, trace-cmd report prints a row for each branch:
 *
 *	prog-52 [000]    15.241435: bts_pack:   touch+0x14 -> entry_SYSCALL_64+0x0
 *	prog-52 [000]    15.241435: bts_pack:   entry_SYSCALL_64+0x46 -> do_syscall_64+0x0
 *
 * For each pack, trace-cmd prints the columns for task, CPU and time once, before it calls the
 * plugin. The plugin repeats these columns in each further row of the pack.
 *
 * With the option "bts:lost", the plugin prints a row before a pack if branches are missing between
 * this pack and the CPU's previous pack. The sequence numbers of the packs show how many branches
 * are missing. This option is off by default, because it works only if the plugin gets every entry
 * of one ring buffer in order. trace-cmd report passes all entries in order only if it reads a
 * single instance without a filter. KernelShark never passes all entries in order.
 *
 * A damaged entry may end before its last field, and libtraceevent would then read past its end. So
 * the plugin checks the size of each entry, even of bts_branch entries, which it does not print.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/types.h>
#include <traceevent/event-parse.h>

#include "bts/unpack.h"

#define PLUGIN_CPUS	8192

struct tep_plugin_option TEP_PLUGIN_OPTIONS[] = {
	{
		.name		= "lost",
		.plugin_alias	= "bts",
		.description	= "Show how many branches are missing between two packs",
	},
	{ }
};

static struct bts_decoder decoder;

/* For each CPU, 1 + the expected sequence number of the next branch, or 0 if unknown. */
static unsigned long long plugin_next[PLUGIN_CPUS];

static bool plugin_shows_lost(void)
{
	return TEP_PLUGIN_OPTIONS[0].set;
}

/* If the entry ends before its last field, print a message in the entry's row and return false. */
static bool plugin_is_whole(struct trace_seq *s, struct tep_event *event,
			    const struct tep_record *record)
{
	const struct tep_format_field *field;

	for (field = event->format.fields; field; field = field->next) {
		if ((unsigned long)field->offset + field->size > (unsigned long)record->size) {
			trace_seq_puts(s, "DAMAGED: the entry is cut off");
			return false;
		}
	}
	return true;
}

/* Return a copy of the text that the current row contains so far. The caller frees the copy. */
static char *plugin_columns(struct trace_seq *s)
{
	unsigned int begin = s->len;

	while (begin && s->buffer[begin - 1] != '\n')
		begin--;
	return strndup(s->buffer + begin, s->len - begin);
}

/* Print user addresses as numbers, because libtraceevent has only kernel symbols. */
static void plugin_put_addr(struct trace_seq *s, struct tep_handle *tep, u64 addr)
{
	const char *name = NULL;

	if ((s64)addr < 0)
		name = tep_find_function(tep, addr);
	if (name)
		trace_seq_printf(s, "%s+0x%llx", name, (unsigned long long)addr -
				 tep_find_function_address(tep, addr));
	else
		trace_seq_printf(s, "0x%llx", (unsigned long long)addr);
}

/* If branches are missing before an entry with @nr branches, print how many are missing. */
static void plugin_put_lost(struct trace_seq *s, const char *columns, int cpu,
			    unsigned long long seq, unsigned long long nr)
{
	if (cpu < 0 || cpu >= PLUGIN_CPUS)
		return;
	if (plugin_shows_lost() && plugin_next[cpu] && seq + 1 > plugin_next[cpu])
		trace_seq_printf(s, "LOST %llu branches (missing in the trace)\n%s",
				 seq + 1 - plugin_next[cpu], columns);
	plugin_next[cpu] = seq + nr + 1;
}

static void plugin_put_rows(struct trace_seq *s, struct tep_handle *tep, const char *columns)
{
	struct bts_pair branch;
	bool first = true;

	while (bts_decoder_rest(&decoder, &branch, 1)) {
		if (!first)
			trace_seq_printf(s, "\n%s", columns);
		first = false;
		plugin_put_addr(s, tep, branch.from);
		trace_seq_puts(s, " -> ");
		plugin_put_addr(s, tep, branch.to);
	}
	if (!bts_decoder_damaged(&decoder))
		return;
	if (!first)
		trace_seq_printf(s, "\n%s", columns);
	trace_seq_printf(s, "DAMAGED: %u branches of the pack are missing",
			 decoder.left);
}

/* If a pack has no field "format", an old tracer wrote the pack in the format BTS_PACK_FORMAT. */
static unsigned int plugin_format(struct tep_event *event, struct tep_record *record)
{
	unsigned long long format;

	if (!tep_find_field(event, "format") ||
	    tep_get_field_val(NULL, event, "format", record, &format, 0))
		return BTS_PACK_FORMAT;
	return format;
}

/* Return 0 if the entry was printed, or 1 if libtraceevent must print the entry. */
static int plugin_pack_handler(struct trace_seq *s, struct tep_record *record,
			       struct tep_event *event, void *context)
{
	struct tep_format_field *code = tep_find_field(event, "code");
	unsigned long long seq, from, nr;
	unsigned int format;
	char *columns;

	(void)context;
	if (!plugin_is_whole(s, event, record))
		return 0;
	if (!code || tep_get_field_val(NULL, event, "seq", record, &seq, 0) ||
	    tep_get_field_val(NULL, event, "from", record, &from, 0) ||
	    tep_get_field_val(NULL, event, "nr", record, &nr, 0))
		return 1;
	columns = plugin_columns(s);
	if (!columns)
		return 1;
	plugin_put_lost(s, columns, record->cpu, seq, nr);
	format = plugin_format(event, record);
	if (format != BTS_PACK_FORMAT) {
		trace_seq_printf(s, "%llu branches, " BTS_PACK_FOREIGN, nr, format);
	} else {
		bts_decoder_begin(&decoder, (char *)record->data + code->offset,
				  record->size - code->offset, from, nr);
		plugin_put_rows(s, event->tep, columns);
	}
	free(columns);
	return 0;
}

/* Do not count branches as missing if the kernel already reports them as lost. */
static int plugin_lost_handler(struct trace_seq *s, struct tep_record *record,
			       struct tep_event *event, void *context)
{
	unsigned long long seq, count;
	char *columns;

	(void)context;
	if (!plugin_is_whole(s, event, record))
		return 0;
	if (tep_get_field_val(NULL, event, "seq", record, &seq, 0) ||
	    tep_get_field_val(NULL, event, "count", record, &count, 0))
		return 1;
	columns = plugin_columns(s);
	if (columns)
		plugin_put_lost(s, columns, record->cpu, seq, count);
	free(columns);
	return 1;
}

static int plugin_branch_handler(struct trace_seq *s, struct tep_record *record,
				 struct tep_event *event, void *context)
{
	(void)context;
	return plugin_is_whole(s, event, record);
}

int TEP_PLUGIN_LOADER(struct tep_handle *tep)
{
	tep_register_event_handler(tep, -1, "ftrace", "bts_branch", plugin_branch_handler, NULL);
	tep_register_event_handler(tep, -1, "ftrace", "bts_pack", plugin_pack_handler, NULL);
	tep_register_event_handler(tep, -1, "ftrace", "bts_lost", plugin_lost_handler, NULL);
	return tep_plugin_add_options("bts", TEP_PLUGIN_OPTIONS);
}

void TEP_PLUGIN_UNLOADER(struct tep_handle *tep)
{
	tep_unregister_event_handler(tep, -1, "ftrace", "bts_branch", plugin_branch_handler, NULL);
	tep_unregister_event_handler(tep, -1, "ftrace", "bts_pack", plugin_pack_handler, NULL);
	tep_unregister_event_handler(tep, -1, "ftrace", "bts_lost", plugin_lost_handler, NULL);
	tep_plugin_remove_options(TEP_PLUGIN_OPTIONS);
}
