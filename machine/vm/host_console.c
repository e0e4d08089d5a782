// SPDX-License-Identifier: GPL-2.0
/*
 * The file with the guest's console: its end is shown where the machine is lost, and trouble
 * in it fails a strict run.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

#define TAIL_SIZE	4096

void show_console_tail(void)
{
	char buf[TAIL_SIZE + 1];
	size_t n;
	FILE *f = fopen(opt.console, "r");

	if (!f)
		return;
	if (fseek(f, -TAIL_SIZE, SEEK_END))
		rewind(f);
	n = fread(buf, 1, TAIL_SIZE, f);
	fclose(f);
	fprintf(stderr, "--- the end of its console, %s ---\n", opt.console);
	fwrite(buf, 1, n, stderr);
	fprintf(stderr, "%s--- end ---\n", n && buf[n - 1] == '\n' ? "" : "\n");
}

static const char * const troubles[] = {
	"BUG:", "WARNING:", "Oops", "INFO: task", "INFO: rcu", "INFO: trying to register",
	"general protection fault", "Call Trace:", "kernel BUG at", "LOCKUP", "soft lockup",
	"Kernel panic", "KASAN:", "UBSAN:", "KCSAN:", "ODEBUG:", "kmemleak:", "recursion",
	"unchecked MSR access", "suspicious RCU", "Debug Store: no memory",
	"Debug Store: bad management area",
};

/* Prints the lines of trouble; true if there is one. */
bool console_has_trouble(void)
{
	FILE *f = fopen(opt.console, "r");
	bool found = false;
	char *line = NULL;
	size_t size = 0, i;

	if (!f)
		die("%s", opt.console);
	while (getline(&line, &size, f) > 0) {
		for (i = 0; i < sizeof(troubles) / sizeof(troubles[0]); i++) {
			if (!strstr(line, troubles[i]))
				continue;
			if (!found)
				say("trouble on the console, %s:", opt.console);
			found = true;
			fputs(line, stderr);
			break;
		}
	}
	free(line);
	fclose(f);
	return found;
}
