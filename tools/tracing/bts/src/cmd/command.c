// SPDX-License-Identifier: GPL-2.0-only
/*
 * Handle the arguments, the help and the output of all commands that read a trace.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file/trace_dat.h"
#include "lib/mem.h"
#include "lib/msg.h"
#include "lib/terminal.h"
#include "lib/text.h"
#include "command.h"

int command_operand(const char **operand, const char *command, int argc, char **argv)
{
	if (operand && optind < argc)
		*operand = argv[optind++];
	if (optind < argc)
		return msg_misuse(command, "%s: unexpected argument", argv[optind]);
	return STATUS_OK;
}

int command_trace_name(const char **trace, const char *command, int argc, char **argv)
{
	int status = command_operand(trace, command, argc, argv);

	if (!status && !strcmp(*trace, "-"))
		return msg_misuse(command, "-: the trace must be a file with a name");
	return status;
}

int command_input(struct options *o, const char *command, int argc, char **argv)
{
	if (optind < argc && !strcmp(o->path, DAT_NAME)) {
		free(o->path);
		o->path = mem_strdup(argv[optind++]);
	}
	return command_operand(NULL, command, argc, argv);
}

int command_no_places(const struct options *o, const char *command)
{
	if (o->dso || o->from || o->to)
		return msg_misuse(command, "--dso, --from and --to cannot be used, because calls "
				  "are followed through all files and functions");
	return STATUS_OK;
}

int command_no_head(const struct options *o, const char *command)
{
	if (o->head)
		return msg_misuse(command, "--head cannot be used, because the output is not a "
				  "list of rows");
	return STATUS_OK;
}

int command_no_input(const struct options *o, const char *command)
{
	if (strcmp(o->path, DAT_NAME))
		return msg_misuse(command, "-i %s: cannot be used, because traces are given as "
				  "arguments", o->path);
	return STATUS_OK;
}

/* Report whether @input names the regular file @out. The name "-" means standard input. */
static bool is_input(const char *input, const struct stat *out)
{
	struct stat st;

	if (!strcmp(input, "-") ? fstat(STDIN_FILENO, &st) : stat(input, &st))
		return false;
	return S_ISREG(st.st_mode) && st.st_dev == out->st_dev && st.st_ino == out->st_ino;
}

int command_no_overwrite(const struct options *o, const char *command, const char *output,
			 char *const *inputs, size_t nr)
{
	struct stat out;
	bool is = false;

	if (!output || !strcmp(output, "-") || stat(output, &out))
		return STATUS_OK;
	for (size_t i = 0; i < nr; i++)
		is |= is_input(inputs[i], &out);
	if (is || (o->vmlinux && is_input(o->vmlinux, &out)))
		return msg_misuse(command, "%s: cannot be written, because this file is an input",
				  output);
	return STATUS_OK;
}

static int parse_arguments(const struct command *c, void *ctx, struct options *o, int argc,
			   char **argv)
{
	int status = options_parse(c, ctx, o, argc, argv);

	if (status)
		return status;
	if (!c->rows && command_no_head(o, argv[0]))
		return STATUS_MISUSE;
	if (c->operands)
		return c->operands(ctx, o, argc, argv);
	return command_input(o, argv[0], argc, argv);
}

int command_main(const struct command *c, void *ctx, int argc, char **argv)
{
	struct options options;
	int status = parse_arguments(c, ctx, &options, argc, argv);

	if (!status) {
		status = c->run(ctx, &options);
	} else if (status < 0) {
		if (c->print_usage)
			c->print_usage();
		else
			command_usage(c->usage);
		status = STATUS_OK;
	}
	options_free(&options);
	return status;
}

static int trace_failed(struct bts_trace *trace)
{
	int status = STATUS_OK;

	if (bts_error(trace))
		status = msg_error(NULL, NULL, "%s", bts_error(trace));
	bts_close(trace);
	return status;
}

struct bts_trace *command_trace(const struct options *o)
{
	struct bts_trace *trace;
	int ret = bts_open(&trace, o->path);

	for (size_t i = 0; !ret && i < o->nr_given; i++)
		ret = bts_set(trace, o->given[i].name, o->given[i].value);
	/* Do not show progress if the rows may appear on the same terminal. */
	if (!ret && !terminal_shares_output())
		bts_on_progress(trace, terminal_progress);
	if (!ret)
		return trace;
	print_failure(o->path, -ret, bts_error(trace));
	bts_close(trace);
	return NULL;
}

int command_trace_end(struct bts_trace *trace, bool json, int status)
{
	const char *text = bts_warning(trace);
	int failed;

	if (text)
		msg_warn("%s", text);
	text = bts_bill(trace, json);
	if (text)
		fputs(text, stdout);
	failed = trace_failed(trace);
	return status ? status : failed;
}

FILE *command_output(const char *output)
{
	FILE *out;

	if (!output || !strcmp(output, "-"))
		return stdout;
	out = fopen(output, "w");
	if (!out)
		msg_errno("write", output);
	return out;
}

int command_output_close(FILE *out, const char *output, int status)
{
	struct stat st;

	if (out == stdout)
		return status;
	if (ferror(out) || fclose(out))
		return msg_errno("write", output);
	if (!stat(output, &st))
		printf("%s: %s bytes\n", output, text_commas(st.st_size));
	return status;
}

int command_usage(const char *text)
{
	printf("%s\nWhich branches:\n%s", text, options_help);
	return STATUS_OK;
}
