// SPDX-License-Identifier: GPL-2.0-only
/*
 * Print failures, warnings and the summary of a trace. The library itself prints nothing.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "file/trace_dat.h"
#include "lib/bytes.h"
#include "lib/msg.h"
#include "lib/terminal.h"
#include "command.h"

int print_failure(const char *path, int code, const char *text)
{
	bool hint = code == ENOENT && !strcmp(path, DAT_NAME);

	return msg_error(NULL, NULL, "%s%s", text,
			 hint ? "; run bts record, or name another trace with -i FILE" : "");
}

bool pipe_open(struct pipe *p, const char *path, const struct options *options)
{
	p->progress = terminal_progress;
	if (pipe_begin(p, path, options))
		return true;
	print_failure(path, p->error.code, error_text(&p->error));
	error_free(&p->error);
	return false;
}

int pipe_close(struct pipe *p)
{
	int status = STATUS_OK;

	if (!p->private)
		return STATUS_OK;
	if (pipe_check(p))
		status = msg_error(NULL, NULL, "%s", error_text(&p->error));
	pipe_end(p);
	error_free(&p->error);
	return status;
}

static void print_bill(const struct pipe *p, FILE *out,
		       void (*bill)(const struct pipe *p, struct bytes *text))
{
	char *warning = pipe_warning(p);
	struct bytes text = {};

	if (warning)
		msg_warn("%s", warning);
	bill(p, &text);
	fwrite(text.data, 1, text.size, out);
	bytes_free(&text);
	free(warning);
}

void pipe_bill(const struct pipe *p, FILE *out)
{
	print_bill(p, out, pipe_bill_text);
}

void pipe_bill_json(const struct pipe *p, FILE *out)
{
	print_bill(p, out, pipe_bill_object);
}
