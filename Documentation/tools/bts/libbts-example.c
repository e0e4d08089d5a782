// SPDX-License-Identifier: GPL-2.0-only
/* Print how often each function of a program was called: libbts-example TRACE PROGRAM */
#include <libbts.h>
#include <stdio.h>
#include <string.h>

static const struct bts_sym *called[65536];
static size_t nr;

static int count(void *program, const struct bts_task *task, struct bts_frame *frame)
{
	uintptr_t *times = (uintptr_t *)bts_sym_user(frame->sym);

	if (frame->kind != BTS_FRAME_CALL || strcmp(bts_sym_object(frame->sym), program))
		return 0;
	if (!*times && nr < 65536)
		called[nr++] = frame->sym;
	++*times;
	return 0;
}

int main(int argc, char **argv)
{
	struct bts_trace *trace;
	bool failed;

	if (argc != 3)
		return 2;
	if (!bts_open(&trace, argv[1])) {
		bts_on_call(trace, count);
		bts_run(trace, argv[2]);
	}
	for (size_t i = 0; i < nr; i++)
		printf("%ju %s\n", *(uintptr_t *)bts_sym_user(called[i]), bts_sym_name(called[i]));
	failed = bts_error(trace);
	if (failed)
		fprintf(stderr, "%s\n", bts_error(trace));
	bts_close(trace);
	return failed;
}
