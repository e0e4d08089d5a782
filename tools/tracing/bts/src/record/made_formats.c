// SPDX-License-Identifier: GPL-2.0-only
/*
 * Describe the entries that the tool itself writes. The fields have the same names as the tracer's
 * fields, so any program that reads the tracer's entries can also read the tool's entries. Offsets
 * and event numbers are constants, because the tool's entries do not depend on the kernel.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "file/trace_dat.h"
#include "lib/bytes.h"
#include "lib/mem.h"
#include "lib/path.h"
#include "made_formats.h"
#include "writer.h"

static const char page_format[] =
	"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
	"\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
	"\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
	"\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";

static const char event_format[] =
	"# compressed entry header\n"
	"\ttype_len    :    5 bits\n"
	"\ttime_delta  :   27 bits\n"
	"\tarray       :   32 bits\n"
	"\n"
	"\tpadding     : type == 29\n"
	"\ttime_extend : type == 30\n"
	"\ttime_stamp : type == 31\n"
	"\tdata max type_len  == 28\n";

#define FIELD(what, offset, size, is_signed) \
	"\tfield:" what ";\toffset:" #offset ";\tsize:" #size ";\tsigned:" #is_signed ";\n"

#define COMMON \
	FIELD("unsigned short common_type", 0, 2, 0) \
	FIELD("unsigned char common_flags", 2, 1, 0) \
	FIELD("unsigned char common_preempt_count", 3, 1, 0) \
	FIELD("int common_pid", 4, 4, 1) "\n"

static const char branch[] = COMMON
	FIELD("unsigned long from", 8, 8, 0)
	FIELD("unsigned long to", 16, 8, 0)
	"\nprint fmt: \"%pS -> %pS\", (void *)REC->from, (void *)REC->to\n";

static const char pack[] = COMMON
	FIELD("u64 seq", 8, 8, 0)
	FIELD("unsigned long from", 16, 8, 0)
	FIELD("unsigned long to", 24, 8, 0)
	FIELD("unsigned short nr", 32, 2, 0)
	FIELD("u8 format", 34, 1, 0)
	FIELD("u8 code[]", 35, 0, 0)
	"\nprint fmt: \"%u branches: %pS -> ... -> %pS\", REC->nr, (void *)REC->from, "
	"(void *)REC->to\n";

static const char lost[] = COMMON
	FIELD("u64 count", 8, 8, 0)
	FIELD("u64 seq", 16, 8, 0)
	FIELD("unsigned int cause", 24, 4, 0)
	"\nprint fmt: \"LOST %llu branches (%s)\", REC->count, REC->cause == 0 ? "
	"\"ring buffer full, 0 means unknown\" : \"DS buffer full, 0 means unknown\"\n";

static const char departs[] = COMMON
	FIELD("char comm[16]", 8, 16, 0)
	FIELD("pid_t pid", 24, 4, 1)
	FIELD("pid_t tgid", 28, 4, 1)
	FIELD("unsigned long user_ip", 32, 8, 0)
	FIELD("unsigned long kernel_ip", 40, 8, 0)
	FIELD("unsigned int state", 48, 4, 0)
	FIELD("bool voluntary", 52, 1, 0)
	"\nprint fmt: \"comm=%s pid=%d tgid=%d %s\", REC->comm, REC->pid, REC->tgid, "
	"REC->voluntary ? \"voluntary\" : \"preempted\"\n";

static const char arrives[] = COMMON
	FIELD("char comm[16]", 8, 16, 0)
	FIELD("pid_t pid", 24, 4, 1)
	FIELD("pid_t tgid", 28, 4, 1)
	FIELD("unsigned long user_ip", 32, 8, 0)
	"\nprint fmt: \"comm=%s pid=%d tgid=%d user_ip=0x%lx\", REC->comm, REC->pid, "
	"REC->tgid, REC->user_ip\n";

static const char map[] = COMMON
	FIELD("char comm[16]", 8, 16, 0)
	FIELD("pid_t pid", 24, 4, 1)
	FIELD("pid_t tgid", 28, 4, 1)
	FIELD("u64 addr", 32, 8, 0)
	FIELD("u64 len", 40, 8, 0)
	FIELD("u64 offset", 48, 8, 0)
	FIELD("u64 inode", 56, 8, 0)
	FIELD("u32 maj", 64, 4, 0)
	FIELD("u32 min", 68, 4, 0)
	FIELD("u32 build_id_size", 72, 4, 0)
	FIELD("u8 build_id[20]", 76, 20, 0)
	FIELD("__data_loc char[] path", 96, 4, 0)
	"\nprint fmt: \"pid=%d tgid=%d addr=0x%llx len=0x%llx offset=0x%llx dev=%u:%u "
	"inode=%llu path=%s\", REC->pid, REC->tgid, REC->addr, REC->len, REC->offset, "
	"REC->maj, REC->min, REC->inode, __get_str(path)\n";

_Static_assert(offsetof(struct made_pack, format) == 34 && sizeof(struct made_pack) == 35,
	       "as in pack[]");
_Static_assert(offsetof(struct made_lost, cause) == 24, "as in lost[]");
_Static_assert(offsetof(struct made_departs, voluntary) == 52, "as in departs[]");
_Static_assert(offsetof(struct made_arrives, user_ip) == 32, "as in arrives[]");
_Static_assert(offsetof(struct made_map, path) == 96, "as in map[]");

static void add_format(struct bytes *content, const char *name, int id, const char *fields)
{
	char *text = mem_format("name: %s\nID: %d\nformat:\n%s", name, id, fields);

	bytes_add64(content, strlen(text));
	bytes_add(content, text, strlen(text));
	free(text);
}

static int put_headers(struct writer *w)
{
	struct bytes content = {};
	int ret;

	bytes_add_string(&content, "header_page");
	bytes_add64(&content, strlen(page_format));
	bytes_add(&content, page_format, strlen(page_format));
	bytes_add_string(&content, "header_event");
	bytes_add64(&content, strlen(event_format));
	bytes_add(&content, event_format, strlen(event_format));
	ret = writer_put_section(w, DAT_SECTION_HEADERS, &content);
	bytes_free(&content);
	return ret;
}

static int put_ftrace(struct writer *w)
{
	struct bytes content = {};
	int ret;

	bytes_add32(&content, 3);
	add_format(&content, "bts_branch", MADE_BRANCH, branch);
	add_format(&content, "bts_pack", MADE_PACK, pack);
	add_format(&content, "bts_lost", MADE_LOST, lost);
	ret = writer_put_section(w, DAT_SECTION_FTRACE, &content);
	bytes_free(&content);
	return ret;
}

static int put_events(struct writer *w)
{
	struct bytes content = {};
	int ret;

	bytes_add32(&content, 1);
	bytes_add_string(&content, "bts");
	bytes_add32(&content, 3);
	add_format(&content, "bts_departs", MADE_DEPARTS, departs);
	add_format(&content, "bts_arrives", MADE_ARRIVES, arrives);
	add_format(&content, "bts_map", MADE_MAP, map);
	ret = writer_put_section(w, DAT_SECTION_EVENTS, &content);
	bytes_free(&content);
	return ret;
}

/* Write a section: the size of @text, and @text itself. Free @text, which may be NULL. */
static int put_text(struct writer *w, int id, char *text)
{
	size_t size = text ? strlen(text) : 0;
	struct bytes content = {};
	int ret;

	bytes_add32(&content, size);
	bytes_add(&content, text, size);
	ret = writer_put_section(w, id, &content);
	bytes_free(&content);
	free(text);
	return ret;
}

int made_formats_write(struct writer *w, bool symbols)
{
	char *kallsyms = symbols ? path_read("/proc/kallsyms", NULL) : NULL;

	return put_headers(w) || put_ftrace(w) || put_events(w) ||
	       put_text(w, DAT_SECTION_KALLSYMS, kallsyms) ||
	       put_text(w, DAT_SECTION_PRINTK, NULL) ? -1 : 0;
}
