// SPDX-License-Identifier: GPL-2.0-only
/*
 * Answer gdb's packets about a recorded run.
 *
 * gdb reads the blocks of a thread once, and then steps through the blocks without further packets.
 * gdb can read the list of threads, the last PC of each thread, and memory of mapped files.
 * Registers other than the PC are unavailable, and gdb cannot write registers or memory. If gdb
 * asks to continue past the end of the history, the reply reports the end of the history. The reply
 * to an unknown packet is empty, as the protocol requires. The reply to a malformed packet is an
 * error.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gdb.h"
#include "packets.h"

#define ERROR_PACKET	"E16"	/* EINVAL */
#define ERROR_MEMORY	"E0e"	/* EFAULT */
#define ERROR_THREAD	"E03"	/* ESRCH */
#define ERROR_FROZEN	"E1e"	/* EROFS */

/**
 * struct server - a session with gdb
 * @thread:	the thread that gdb has selected
 * @document:	the document that gdb is reading
 * @name:	the name of @document in gdb's qXfer packet, in the form OBJECT:ANNEX
 * @of:		the thread that @document describes
 * @gone:	gdb has disconnected, or has requested the end of the session
 */
struct server {
	struct gdb_session	*g;
	struct packets		packets;
	const struct gdb_thread	*thread;
	struct bytes		document;
	char			*name;
	const struct gdb_thread	*of;
	bool			gone;
};

static void reply(struct server *s, const char *text)
{
	if (!packet_reply(&s->packets, text, strlen(text)))
		s->gone = true;
}

/* Parse an ID, which is a hexadecimal number or -1. */
static bool parse_id(const char **text, int64_t *id)
{
	uint64_t number;

	*id = -1;
	if (packet_skip(text, '-'))
		return packet_skip(text, '1');
	if (!packet_number(text, &number) || number > INT32_MAX)
		return false;
	*id = number;
	return true;
}

/* Parse pPID.TID, pPID or TID (0 or -1 for any thread). Return NULL if no thread matches. */
static const struct gdb_thread *parse_thread(const struct server *s, const char *text)
{
	int64_t tgid = 0, tid = -1;
	bool process = packet_skip(&text, 'p');

	if (process && !parse_id(&text, &tgid))
		return NULL;
	if ((!process || packet_skip(&text, '.')) && !parse_id(&text, &tid))
		return NULL;
	if (*text || (tgid > 0 && tgid != s->g->tgid))
		return NULL;
	if (tid <= 0)
		return s->thread;
	for (size_t i = 0; i < s->g->nr_threads; i++)
		if (s->g->threads[i].tid == tid)
			return &s->g->threads[i];
	return NULL;
}

/* Report that the thread has stopped at the end of the history. gdb itself replays the history. */
static void reply_stop(struct server *s, const char *why)
{
	char text[64];

	snprintf(text, sizeof(text), "T05%sthread:p%x.%x;", why, s->g->tgid, s->thread->tid);
	reply(s, text);
}

static void choose_thread(struct server *s, const char *text)
{
	const struct gdb_thread *t = *text ? parse_thread(s, text + 1) : NULL;

	if (t && *text == 'g')
		s->thread = t;
	reply(s, t ? "OK" : ERROR_THREAD);
}

static void is_alive(struct server *s, const char *text)
{
	reply(s, parse_thread(s, text) ? "OK" : ERROR_THREAD);
}

/* Send general registers, PC, flags and segment registers. Mark all but the PC as unavailable. */
static void read_registers(struct server *s, const char *text)
{
	const struct gdb_image *program = gdb_program(s->g);
	bool narrow = program && program->object->bits32;
	unsigned int size = narrow ? 4 : 8, general = narrow ? 8 : 16;
	char line[2 * (17 * 8 + 7 * 4) + 1];
	char *at = line;

	if (*text)
		return reply(s, ERROR_PACKET);
	memset(line, 'x', sizeof(line));
	at += 2 * size * general;
	for (unsigned int i = 0; i < size; i++)
		at += sprintf(at, "%02x", (unsigned int)(s->thread->pc >> (8 * i) & 0xff));
	*at = 'x';
	at[2 * 7 * 4] = 0;
	reply(s, line);
}

static void read_register(struct server *s, const char *text)
{
	uint64_t number;

	reply(s, packet_number(&text, &number) && !*text ? "xxxxxxxx" : ERROR_PACKET);
}

static void read_memory(struct server *s, const char *text)
{
	static uint8_t bytes[PACKET_MAX / 2];
	static char line[PACKET_MAX + 1];
	uint64_t addr, size;

	if (!packet_number(&text, &addr) || !packet_skip(&text, ',') ||
	    !packet_number(&text, &size) || *text)
		return reply(s, ERROR_PACKET);
	if (size > sizeof(bytes))
		size = sizeof(bytes);
	size = gdb_read_memory(s->g, addr, bytes, size);
	if (!size)
		return reply(s, ERROR_MEMORY);
	for (size_t i = 0; i < size; i++)
		sprintf(line + 2 * i, "%02x", bytes[i]);
	reply(s, line);
}

/* Write the document to s->document, unless it is already there. */
static bool open_document(struct server *s, const char *object, const char *annex)
{
	char *name = mem_format("%s:%s", object, annex);
	bool same = s->name && !strcmp(s->name, name) && s->of == s->thread;

	if (same) {
		free(name);
		return true;
	}
	free(s->name);
	s->name = NULL;
	s->document.size = 0;
	if (!gdb_document(s->g, s->thread, object, annex, &s->document)) {
		free(name);
		return false;
	}
	s->name = name;
	s->of = s->thread;
	return true;
}

/* Send a piece of the document. Escape the characters }, $, # and *. */
static void reply_piece(struct server *s, uint64_t offset, uint64_t length)
{
	static char piece[PACKET_MAX];
	size_t size = 1, left;

	if (offset > s->document.size)
		offset = s->document.size;
	left = s->document.size - offset;
	for (; left && length && size < sizeof(piece) - 1; left--, length--) {
		char c = s->document.data[offset++];

		if (strchr("}$#*", c) && c)
			piece[size++] = '}';
		piece[size++] = strchr("}$#*", c) && c ? c ^ 0x20 : c;
	}
	piece[0] = left ? 'm' : 'l';
	if (!packet_reply(&s->packets, piece, size))
		s->gone = true;
}

/* Parse OFFSET,LENGTH. */
static void read_piece(struct server *s, const char *range, const char *object,
		       const char *annex)
{
	uint64_t offset, length;

	if (!packet_number(&range, &offset) || !packet_skip(&range, ',') ||
	    !packet_number(&range, &length) || *range)
		reply(s, ERROR_PACKET);
	else if (!open_document(s, object, annex))
		reply(s, "E00");
	else
		reply_piece(s, offset, length);
}

/* Parse OBJECT:read:ANNEX:OFFSET,LENGTH. */
static void read_document(struct server *s, const char *text)
{
	static const char read[] = ":read:";
	char *object = mem_strdup(text), *range = strrchr(object, ':');
	char *annex = strstr(object, read);

	if (annex && annex + strlen(read) <= range) {
		*annex = 0;
		*range = 0;
		read_piece(s, range + 1, object, annex + strlen(read));
	} else {
		reply(s, ERROR_PACKET);
	}
	free(object);
}

static void list_threads(struct server *s, const char *text)
{
	FILE *out;
	char *list = NULL;
	size_t size;

	(void)text;
	out = open_memstream(&list, &size);
	if (!out)
		return reply(s, ERROR_PACKET);
	for (size_t i = 0; i < s->g->nr_threads; i++)
		fprintf(out, "%cp%x.%x", i ? ',' : 'm', s->g->tgid, s->g->threads[i].tid);
	fclose(out);
	reply(s, list);
	free(list);
}

static void list_end(struct server *s, const char *text)
{
	(void)text;
	reply(s, "l");
}

static void current_thread(struct server *s, const char *text)
{
	char line[64];

	(void)text;
	snprintf(line, sizeof(line), "QCp%x.%x", s->g->tgid, s->thread->tid);
	reply(s, line);
}

static void supported(struct server *s, const char *text)
{
	char line[512];

	(void)text;
	snprintf(line, sizeof(line), "PacketSize=%x;QStartNoAckMode+;multiprocess+;"
		 "qXfer:features:read+;qXfer:exec-file:read+;qXfer:libraries-svr4:read+;"
		 "qXfer:auxv:read+;qXfer:threads:read+;qXfer:btrace:read+;"
		 "qXfer:btrace-conf:read+;Qbtrace:bts+;Qbtrace:off+;Qbtrace-conf:bts:size+",
		 PACKET_MAX);
	reply(s, line);
}

static void no_acks(struct server *s, const char *text)
{
	(void)text;
	reply(s, "OK");
	s->packets.acks = false;
}

static void yes(struct server *s, const char *text)
{
	(void)text;
	reply(s, "OK");
}

static void attached(struct server *s, const char *text)
{
	(void)text;
	reply(s, "1");
}

static void frozen(struct server *s, const char *text)
{
	(void)text;
	reply(s, ERROR_FROZEN);
}

static void where(struct server *s, const char *text)
{
	(void)text;
	reply_stop(s, "");
}

static void resume(struct server *s, const char *text)
{
	(void)text;
	reply_stop(s, "replaylog:end;");
}

/* Accept and ignore breakpoints (types 0 and 1): gdb detects hits itself. Reject watchpoints. */
static void breakpoint(struct server *s, const char *text)
{
	reply(s, *text == '0' || *text == '1' ? "OK" : "");
}

static void kill_run(struct server *s, const char *text)
{
	(void)text;
	s->gone = true;
}

static void empty(struct server *s, const char *text)
{
	(void)text;
	reply(s, "");
}

/* Find the first entry whose @text is a prefix of the packet, and call its @answer. */
static const struct {
	const char	*text;
	void		(*answer)(struct server *s, const char *rest);
} answers[] = {
	{ "qSupported",		supported },
	{ "QStartNoAckMode",	no_acks },
	{ "qXfer:",		read_document },
	{ "qfThreadInfo",	list_threads },
	{ "qsThreadInfo",	list_end },
	{ "qAttached",		attached },
	{ "qC",			current_thread },
	{ "Qbtrace",		yes },
	{ "qSymbol",		yes },
	{ "vKill",		yes },
	{ "v",			empty },
	{ "q",			empty },
	{ "Q",			empty },
	{ "?",			where },
	{ "g",			read_registers },
	{ "p",			read_register },
	{ "m",			read_memory },
	{ "H",			choose_thread },
	{ "T",			is_alive },
	{ "c",			resume },
	{ "C",			resume },
	{ "s",			resume },
	{ "S",			resume },
	{ "Z",			breakpoint },
	{ "z",			breakpoint },
	{ "G",			frozen },
	{ "P",			frozen },
	{ "M",			frozen },
	{ "X",			frozen },
	{ "D",			yes },
	{ "k",			kill_run },
	{ "",			empty },
};

static void answer(struct server *s)
{
	const char *packet = s->packets.packet;

	for (size_t i = 0; i < ARRAY_SIZE(answers); i++) {
		size_t length = strlen(answers[i].text);

		if (!strncmp(packet, answers[i].text, length)) {
			answers[i].answer(s, packet + length);
			return;
		}
	}
}

void gdb_serve(struct gdb_session *g, int in, int out)
{
	struct server *s = mem_zalloc(1, sizeof(*s));
	enum packet_status status;

	s->g = g;
	s->thread = g->current;
	s->packets.in = in;
	s->packets.out = out;
	s->packets.acks = true;
	signal(SIGPIPE, SIG_IGN);
	while (!s->gone && (status = packet_read(&s->packets)) != PACKET_END) {
		if (status == PACKET_BAD)
			reply(s, ERROR_PACKET);
		else
			answer(s);
	}
	bytes_free(&s->document);
	free(s->name);
	free(s);
}
