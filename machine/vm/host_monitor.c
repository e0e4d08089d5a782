// SPDX-License-Identifier: GPL-2.0
/*
 * The emulator's monitor, which speaks QMP: a JSON object in each line.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "host.h"

/* Returns a line of the monitor, or NULL where there is none yet. Valid until the next. */
static char *monitor_line(void)
{
	static char buf[256 * 1024];
	static size_t used, taken;
	char *end;
	ssize_t n;

	memmove(buf, buf + taken, used - taken);
	used -= taken;
	taken = 0;
	n = recv(ports[MONITOR], buf + used, sizeof(buf) - used, MSG_DONTWAIT);
	if (n > 0)
		used += n;
	end = memchr(buf, '\n', used);
	if (!end)
		return NULL;
	*end = '\0';
	taken = end + 1 - buf;
	return buf;
}

static void monitor_say(const char *line)
{
	if (send(ports[MONITOR], line, strlen(line), MSG_NOSIGNAL) < 0)
		say("the emulator's monitor: %s", strerror(errno));
}

/* The monitor takes no other command before this one. */
void monitor_start(void)
{
	monitor_say("{\"execute\": \"qmp_capabilities\"}\n");
}

bool monitor_lost(void)
{
	char *line;

	while ((line = monitor_line()))
		if (strstr(line, "\"event\": \"SHUTDOWN\"") ||
		    strstr(line, "\"event\": \"GUEST_PANICKED\""))
			return true;
	return false;
}

/* The text of a JSON string, up to its closing quote. */
static void print_json_string(const char *s, FILE *f)
{
	for (; *s && *s != '"'; s++) {
		if (*s != '\\') {
			fputc(*s, f);
			continue;
		}
		s++;
		if (*s == 'n')
			fputc('\n', f);
		else if (*s == 't')
			fputc('\t', f);
		else if (*s != 'r')
			fputc(*s, f);
	}
}

static void write_info(const char *reply)
{
	static const char key[] = "\"return\": \"";
	const char *text = strstr(reply, key);
	FILE *f = fopen(opt.info, "w");

	if (!f)
		die("%s", opt.info);
	if (text)
		print_json_string(text + sizeof(key) - 1, f);
	else
		say("info bts: %s", reply);
	if (fclose(f))
		die("%s", opt.info);
}

static const char info_command[] =
	"{\"execute\": \"human-monitor-command\", \"id\": \"info\", "
	"\"arguments\": {\"command-line\": \"info bts\"}}\n";

void ask_info(void)
{
	struct pollfd fd = { .fd = ports[MONITOR], .events = POLLIN };
	char *line;

	if (!opt.info)
		return;
	monitor_say(info_command);
	while (poll(&fd, 1, 5000) > 0) {
		while ((line = monitor_line())) {
			if (!strstr(line, "\"id\": \"info\""))
				continue;
			write_info(line);
			return;
		}
		if (fd.revents & POLLHUP)
			break;
	}
	say("%s: no answer from the emulator", opt.info);
}
