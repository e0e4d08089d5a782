// SPDX-License-Identifier: GPL-2.0-only
/*
 * Escape control characters on a terminal, because names of tasks, files and functions are
 * untrusted. If stdout or stderr is a terminal, replace it with a stream that escapes text:
 *
 *	printf(), text.c -> stream -> write_visible() -> terminal
 *
 * Newlines, tabs and printable UTF-8 stay unchanged. Other control characters, including C1
 * controls, become \xNN. The command bts tui draws its screen directly, without the stream.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "mem.h"
#include "path.h"
#include "terminal.h"

/**
 * struct guarded - a terminal on which control characters are escaped
 * @fd:		the terminal
 * @rest:	number of bytes that must follow to complete the current character
 * @lead:	the previous byte; 0 if that byte continued a multi-byte character
 */
struct guarded {
	int		fd;
	unsigned int	rest;
	unsigned char	lead;
};

static bool is_control(struct guarded *g, unsigned char c)
{
	unsigned char lead = g->lead;

	g->lead = 0;
	/* In UTF-8, the C1 controls U+0080 to U+009F begin with the byte 0xc2. */
	if (g->rest && c >= 0x80 && c < 0xc0) {
		g->rest--;
		return lead == 0xc2 && c < 0xa0;
	}
	g->rest = c < 0xc2 || c > 0xf4 ? 0 : c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;
	g->lead = c;
	return (c < 0x20 && c != '\n' && c != '\t') || (c >= 0x7f && c < 0xa0);
}

static ssize_t write_visible(void *cookie, const char *bytes, size_t size)
{
	struct guarded *g = cookie;
	char *out = mem_alloc(4 * size + 1), *at = out;
	bool failed;

	for (size_t i = 0; i < size; i++) {
		unsigned char c = bytes[i];

		if (is_control(g, c))
			at += sprintf(at, "\\x%02x", c);
		else
			*at++ = c;
	}
	failed = path_write_all(g->fd, out, at - out);
	free(out);
	return failed ? 0 : (ssize_t)size;
}

static struct guarded guarded[STDERR_FILENO + 1];

static FILE *guard(FILE *stream, int fd, int mode)
{
	static const cookie_io_functions_t functions = { .write = write_visible };
	FILE *visible;

	if (!isatty(fd))
		return stream;
	guarded[fd].fd = fd;
	visible = fopencookie(&guarded[fd], "w", functions);
	if (!visible)
		return stream;
	setvbuf(visible, NULL, mode, 0);
	return visible;
}

void terminal_guard(void)
{
	stdout = guard(stdout, STDOUT_FILENO, _IOLBF);
	stderr = guard(stderr, STDERR_FILENO, _IOLBF);
}

void terminal_clear(void)
{
	static const char clear[] = "\033[H\033[2J";

	fflush(stdout);
	if (isatty(STDOUT_FILENO))
		path_write_all(STDOUT_FILENO, clear, sizeof(clear) - 1);
}

#define PROGRESS_AFTER	1000
#define PROGRESS_EACH	100

void terminal_progress(void *ctx, uint64_t done, uint64_t total)
{
	static int64_t begun, shown;
	struct timespec time;
	char text[16] = "     \r";
	int64_t now;

	(void)ctx;
	clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
	now = time.tv_sec * 1000 + time.tv_nsec / 1000000;
	if (done < total) {
		begun = begun ? begun : now;
		if (now - begun < PROGRESS_AFTER || now - shown < PROGRESS_EACH ||
		    !isatty(STDERR_FILENO))
			return;
		shown = now;
		/* The final carriage return lets the next line overwrite the text. */
		snprintf(text, sizeof(text), "%3u %%\r", (unsigned int)(100. * done / total));
	} else {
		begun = 0;
		if (!shown)
			return;
		shown = 0;
	}
	fflush(stderr);
	path_write_all(STDERR_FILENO, text, strlen(text));
}

bool terminal_shares_output(void)
{
	struct stat st;

	return isatty(STDOUT_FILENO) || (!fstat(STDOUT_FILENO, &st) && S_ISFIFO(st.st_mode));
}

void terminal_control(FILE *out, const char *sequence)
{
	/* guarded[].fd is 0 if terminal_guard() did not replace the stream. */
	if (out != stdout || !guarded[STDOUT_FILENO].fd) {
		fputs(sequence, out);
		return;
	}
	fflush(out);
	path_write_all(STDOUT_FILENO, sequence, strlen(sequence));
}
