// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write a timeline of the calls, in Perfetto's own format. The file is a sequence of packets. Each
 * packet is a protobuf message (protos/perfetto/trace/trace_packet.proto in Perfetto's source).
 * ui.perfetto.dev and trace_processor read this format faster than JSON, and the file is less than
 * half as large.
 *
 *	TracePacket	{ timestamp, sequence, flags, interned_data, track_event or _descriptor }
 *	track_event	{ type, track, name as a number, instructions and branches }
 *
 * Each task has a track. If a task has several stacks, each stack after the first has its own track
 * below the task's track. Each function and file gets a number in the first packet that names it.
 */
#include <string.h>

#include "lib/text.h"
#include "timeline.h"

/* The numbers of the fields in Perfetto's protobuf messages. */
enum {
	TRACE_PACKET			= 1,
	PACKET_TIMESTAMP		= 8,
	PACKET_SEQUENCE_ID		= 10,
	PACKET_TRACK_EVENT		= 11,
	PACKET_INTERNED_DATA		= 12,
	PACKET_SEQUENCE_FLAGS		= 13,
	PACKET_TRACK_DESCRIPTOR		= 60,
	EVENT_CATEGORY_IIDS		= 3,
	EVENT_ANNOTATIONS		= 4,
	EVENT_TYPE			= 9,
	EVENT_NAME_IID			= 10,
	EVENT_TRACK_UUID		= 11,
	EVENT_NAME			= 23,
	ANNOTATION_NAME_IID		= 1,
	ANNOTATION_UINT			= 3,
	INTERNED_CATEGORIES		= 1,
	INTERNED_EVENT_NAMES		= 2,
	INTERNED_ANNOTATION_NAMES	= 3,
	NAME_IID			= 1,
	NAME_NAME			= 2,
	TRACK_UUID			= 1,
	TRACK_NAME			= 2,
	TRACK_THREAD			= 4,
	TRACK_PARENT_UUID		= 5,
	THREAD_PID			= 1,
	THREAD_TID			= 2,
	THREAD_NAME			= 5,
};

enum { SLICE_BEGIN = 1, SLICE_END = 2, INSTANT = 3 };
enum { STATE_CLEARED = 1, NEEDS_STATE = 2 };

#define MESSAGE_MAX	2048

/* Collect each message in memory, because a message's length is written before its bytes. */
struct message {
	size_t	used;
	char	bytes[MESSAGE_MAX];
};

/* Events refer to the annotation names "instructions" and "branches" by these numbers. */
enum { INSTRUCTIONS = 1, BRANCHES };

struct perfetto {
	uint64_t	names;		/* the number of names written so far */
	bool		begun;
};

static void put_byte(struct message *m, uint8_t byte)
{
	if (m->used < MESSAGE_MAX)
		m->bytes[m->used++] = byte;
}

static void put_varint(struct message *m, uint64_t number)
{
	for (; number > 0x7f; number >>= 7)
		put_byte(m, number | 0x80);
	put_byte(m, number);
}

static void put_number(struct message *m, unsigned int field, uint64_t number)
{
	put_varint(m, field << 3);
	put_varint(m, number);
}

static void put_bytes(struct message *m, unsigned int field, const char *bytes, size_t size)
{
	put_varint(m, field << 3 | 2);
	put_varint(m, size);
	for (size_t i = 0; i < size; i++)
		put_byte(m, bytes[i]);
}

static void put_message(struct message *m, unsigned int field, const struct message *part)
{
	put_bytes(m, field, part->bytes, part->used);
}

/* Replace non-ASCII bytes, which may be invalid UTF-8. Truncate a string that is too long. */
static void put_string(struct message *m, unsigned int field, const char *string)
{
	char plain[512];
	size_t size = 0;

	for (; *string && size < sizeof(plain); string++)
		plain[size++] = *string & 0x80 ? '?' : *string;
	put_bytes(m, field, plain, size);
}

static void put_packet(struct timeline *tl, struct message *packet)
{
	struct perfetto *p = tl->ctx;
	struct message head = {};

	put_number(packet, PACKET_SEQUENCE_ID, 1);
	put_number(packet, PACKET_SEQUENCE_FLAGS, p->begun ? NEEDS_STATE : STATE_CLEARED);
	p->begun = true;
	put_varint(&head, TRACE_PACKET << 3 | 2);
	put_varint(&head, packet->used);
	text_bytes(tl->text, head.bytes, head.used);
	text_bytes(tl->text, packet->bytes, packet->used);
}

static void intern(struct message *interned, unsigned int field, uint64_t number,
		   const char *string)
{
	struct message name = {};

	put_number(&name, NAME_IID, number);
	put_string(&name, NAME_NAME, string);
	put_message(interned, field, &name);
}

/* If @name has no number in *@kept, store one and add @name to @interned. Return the number. */
static uint64_t name_number(struct perfetto *p, void **kept, const char *name, unsigned int field,
			    struct message *interned)
{
	if (!*kept) {
		p->names++;
		*kept = (void *)(uintptr_t)p->names;
		intern(interned, field, p->names, name);
	}
	return (uintptr_t)*kept;
}

static void annotate(struct message *event, uint64_t name, uint64_t number)
{
	struct message annotation = {};

	put_number(&annotation, ANNOTATION_NAME_IID, name);
	put_number(&annotation, ANNOTATION_UINT, number);
	put_message(event, EVENT_ANNOTATIONS, &annotation);
}

/* Add 1, so that PID 0 (idle tasks) does not use track 0, which Perfetto reserves. */
static uint64_t track_id(const struct calls *c)
{
	return timeline_track(c) + 1;
}

static void put_event(struct timeline *tl, struct message *packet, struct message *event,
		      const struct calls *c, uint64_t at)
{
	put_number(event, EVENT_TRACK_UUID, track_id(c));
	put_number(packet, PACKET_TIMESTAMP, at);
	put_message(packet, PACKET_TRACK_EVENT, event);
	put_packet(tl, packet);
}

static void enter(struct timeline *tl, struct calls *c, struct frame *f)
{
	struct message packet = {}, event = {}, interned = {};
	struct object *o = f->sym->object;

	put_number(&event, EVENT_TYPE, SLICE_BEGIN);
	put_number(&event, EVENT_NAME_IID, name_number(tl->ctx, &f->sym->priv, f->sym->name,
						       INTERNED_EVENT_NAMES, &interned));
	put_number(&event, EVENT_CATEGORY_IIDS, name_number(tl->ctx, &o->priv, o->name,
							    INTERNED_CATEGORIES, &interned));
	if (interned.used)
		put_message(&packet, PACKET_INTERNED_DATA, &interned);
	put_event(tl, &packet, &event, c, f->ts);
}

static void leave(struct timeline *tl, struct calls *c, struct frame *f, uint64_t end)
{
	struct message packet = {}, event = {};

	put_number(&event, EVENT_TYPE, SLICE_END);
	annotate(&event, INSTRUCTIONS, c->insns - f->insns_at);
	annotate(&event, BRANCHES, c->branches - f->branches_at);
	put_event(tl, &packet, &event, c, end);
}

static void mark(struct timeline *tl, struct calls *c, const char *text, uint64_t at)
{
	struct message packet = {}, event = {};

	put_number(&event, EVENT_TYPE, INSTANT);
	put_string(&event, EVENT_NAME, text);
	put_event(tl, &packet, &event, c, at);
}

static void task(struct timeline *tl, struct task *t)
{
	struct message packet = {}, track = {}, thread = {};

	put_number(&thread, THREAD_PID, t->tgid);
	put_number(&thread, THREAD_TID, timeline_first_track(t));
	put_string(&thread, THREAD_NAME, t->comm);
	put_number(&track, TRACK_UUID, timeline_first_track(t) + 1);
	put_message(&track, TRACK_THREAD, &thread);
	put_message(&packet, PACKET_TRACK_DESCRIPTOR, &track);
	put_packet(tl, &packet);
}

static void stack(struct timeline *tl, struct calls *c)
{
	struct message packet = {}, track = {};
	char name[32];

	snprintf(name, sizeof(name), "stack %u", c->now.id);
	put_number(&track, TRACK_UUID, track_id(c));
	put_string(&track, TRACK_NAME, name);
	put_number(&track, TRACK_PARENT_UUID, timeline_first_track(c->task) + 1);
	put_message(&packet, PACKET_TRACK_DESCRIPTOR, &track);
	put_packet(tl, &packet);
}

int dump_perfetto(struct dump *d)
{
	struct perfetto p = {};
	struct timeline tl = {
		.dump = d, .text = text_open(d->out), .enter = enter, .leave = leave,
		.mark = mark, .stack = stack, .task = task, .ctx = &p,
	};
	struct message packet = {}, interned = {};
	int status;

	intern(&interned, INTERNED_ANNOTATION_NAMES, INSTRUCTIONS, "instructions");
	intern(&interned, INTERNED_ANNOTATION_NAMES, BRANCHES, "branches");
	put_message(&packet, PACKET_INTERNED_DATA, &interned);
	put_packet(&tl, &packet);
	status = timeline_run(&tl);
	text_close(tl.text);
	return status;
}
