// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write the documents that gdb reads with qXfer. These documents describe the architecture, the
 * threads and files of the process, and the blocks of a thread. The formats are defined in
 * gdb/features in gdb's source, for example in btrace.dtd and library-list-svr4.dtd.
 */
#include <elf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/json.h"
#include "lib/path.h"
#include "gdb.h"

/*
 * Print a name as an XML attribute. Replace control characters and bytes that are not valid UTF-8,
 * because gdb rejects a document that contains them. The kernel truncates the names of tasks to 15
 * bytes, possibly in the middle of a character.
 */
static void print_name(FILE *out, const char *name)
{
	char escaped[JSON_CHARACTER];

	for (const char *at = name; json_next(&name, escaped); at = name) {
		size_t length = name - at;

		if (length == 1 && strchr("&<>\"'", *at))
			fprintf(out, "&#%d;", *at);
		else if (length == 1)
			fputc((signed char)*at < ' ' ? '?' : *at, out);
		else if (escaped[0] == '\\' || !strncmp(at, "\xef\xbf\xbe", 3) ||
			 !strncmp(at, "\xef\xbf\xbf", 3))
			fputc('?', out);
		else
			fwrite(at, length, 1, out);
	}
}

/* Print only the architecture's name, because gdb derives the registers from the name. */
static void print_target(FILE *out, const struct gdb_session *g)
{
	const struct gdb_image *program = gdb_program(g);

	fprintf(out,
		"<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM \"gdb-target.dtd\">"
		"<target version=\"1.0\"><architecture>%s</architecture>"
		"<osabi>GNU/Linux</osabi></target>",
		program && program->object->bits32 ? "i386" : "i386:x86-64");
}

static void print_threads(FILE *out, const struct gdb_session *g)
{
	fputs("<?xml version=\"1.0\"?><threads>", out);
	for (size_t i = 0; i < g->nr_threads; i++) {
		const struct gdb_thread *t = &g->threads[i];

		fprintf(out, "<thread id=\"p%x.%x\" core=\"%d\" name=\"", g->tgid, t->tid, t->cpu);
		print_name(out, t->comm);
		fputs("\"/>", out);
	}
	fputs("</threads>", out);
}

static bool same_bytes(const struct object *o, const char *path)
{
	bool same = false;
	struct stat st;
	size_t size;
	char *bytes;

	if (stat(path, &st) || !S_ISREG(st.st_mode) || (size_t)st.st_size != o->file_size)
		return false;
	bytes = path_read(path, &size);
	if (bytes)
		same = size == o->file_size && !memcmp(bytes, o->file, size);
	free(bytes);
	return same;
}

/* Return the path of the mapped file or, if the mapped file has changed, of the archived copy. */
static bool file_name(const struct object *o, char path[PATH_MAX])
{
	if (!o->read_path)
		return false;
	return realpath(same_bytes(o, o->path) ? o->path : o->read_path, path);
}

static void print_library(FILE *out, const char *name, uint64_t bias, uint64_t dynamic)
{
	fputs("<library lmid=\"0x0\" name=\"", out);
	print_name(out, name);
	/* The address of the link map is unknown, so use a value that is unique to the file. */
	fprintf(out, "\" lm=\"0x%llx\" l_addr=\"0x%llx\" l_ld=\"0x%llx\"/>",
		(unsigned long long)(bias + dynamic), (unsigned long long)bias,
		(unsigned long long)(bias + dynamic));
}

static void print_kernel(FILE *out, const struct gdb_session *g)
{
	const struct object *kernel = g->pipe.objects.kernel;
	char name[64];

	if (!g->kernel)
		return;
	snprintf(name, sizeof(name), "/proc/%d/fd/%d", getpid(), g->kernel_file);
	if (g->kernel_file >= 0)
		print_library(out, name, 0, 0);
	else
		print_library(out, kernel->debug_path, kernel->debug_bias, 0);
}

static void print_libraries(FILE *out, const struct gdb_session *g)
{
	const struct gdb_image *program = gdb_program(g);
	char path[PATH_MAX];

	fputs("<?xml version=\"1.0\"?><library-list-svr4 version=\"1.0\">", out);
	for (size_t n = 0; n < g->nr_images; n++) {
		const struct gdb_image *i = &g->images[n];

		if (i != program && file_name(i->object, path))
			print_library(out, path, i->bias, i->dynamic);
	}
	print_kernel(out, g);
	fputs("</library-list-svr4>", out);
}

/*
 * Print the auxiliary vector, which contains the addresses of the program and its dynamic linker.
 * Without the linker's address, gdb would assume that the PC is in the dynamic linker.
 */
static void print_auxv(FILE *out, const struct gdb_session *g)
{
	const struct gdb_image *p = gdb_program(g), *linker = gdb_interpreter(g);
	const Elf64_auxv_t wide[] = {
		{ AT_PHDR, { p->phdr + p->bias } }, { AT_PHENT, { p->phdr_size } },
		{ AT_PHNUM, { p->nr_phdrs } }, { AT_PAGESZ, { 4096 } },
		{ AT_BASE, { linker ? linker->bias : 0 } },
		{ AT_ENTRY, { p->entry + p->bias } }, { AT_NULL, { 0 } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(wide); i++) {
		Elf32_auxv_t narrow = { wide[i].a_type, { wide[i].a_un.a_val } };

		if (p->object->bits32)
			fwrite(&narrow, sizeof(narrow), 1, out);
		else
			fwrite(&wide[i], sizeof(wide[i]), 1, out);
	}
}

static void print_blocks(FILE *out, const struct gdb_thread *t)
{
	size_t nr = gdb_nr_blocks(t);

	fputs("<!DOCTYPE btrace SYSTEM \"btrace.dtd\"><btrace version=\"1.0\">", out);
	for (size_t i = 0; i < nr; i++) {
		struct gdb_block b = gdb_block_before(t, i);

		fprintf(out, "<block begin=\"0x%llx\" end=\"0x%llx\"/>",
			(unsigned long long)b.begin, (unsigned long long)b.end);
	}
	fputs("</btrace>", out);
}

/* Print the blocks. The history never grows, so the annexes "new" and "delta" contain no blocks. */
static void print_btrace(FILE *out, const struct gdb_thread *t, const char *annex)
{
	static const struct gdb_thread empty;

	print_blocks(out, strcmp(annex, "all") ? &empty : t);
}

static bool print_file_name(FILE *out, const struct gdb_session *g)
{
	const struct gdb_image *program = gdb_program(g);
	char path[PATH_MAX];

	if (!program || !file_name(program->object, path))
		return false;
	fputs(path, out);
	return true;
}

static bool print_document(struct gdb_session *g, const struct gdb_thread *t, const char *object,
			   const char *annex, FILE *out)
{
	if (!strcmp(object, "features") && !strcmp(annex, "target.xml"))
		print_target(out, g);
	else if (!strcmp(object, "threads"))
		print_threads(out, g);
	else if (!strcmp(object, "libraries-svr4"))
		print_libraries(out, g);
	else if (!strcmp(object, "auxv") && gdb_program(g))
		print_auxv(out, g);
	else if (!strcmp(object, "btrace"))
		print_btrace(out, t, annex);
	else if (!strcmp(object, "btrace-conf"))
		fputs("<!DOCTYPE btrace-conf SYSTEM \"btrace-conf.dtd\">"
		      "<btrace-conf version=\"1.0\"><bts size=\"0x10000\"/></btrace-conf>", out);
	else
		return !strcmp(object, "exec-file") && print_file_name(out, g);
	return true;
}

bool gdb_document(struct gdb_session *g, const struct gdb_thread *t, const char *object,
		  const char *annex, struct bytes *out)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);
	bool done;

	if (!stream)
		return false;
	done = print_document(g, t, object, annex, stream) && !ferror(stream);
	if (!fclose(stream) && done)
		bytes_add(out, text, size);
	free(text);
	return done;
}
