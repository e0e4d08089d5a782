// SPDX-License-Identifier: GPL-2.0-only
/*
 * List the files that the process has mapped, and read memory from these files.
 *
 * A trace does not contain the contents of memory. So the only memory that gdb can read is the
 * files' read-only segments, which contain code and constants. gdb's data cache reads whole cache
 * lines. If the last cache line of a segment cannot be read completely, gdb becomes a hundred times
 * slower. So the segments are extended to whole pages, which contain only whole cache lines.
 */
#include <stdlib.h>
#include <string.h>

#include "gdb.h"

#define PAGE_BYTES	4096ULL

/* Store what gdb needs: addresses, the interpreter's name, and the bounds of read-only segments. */
static void read_segment(struct gdb_image *i, const GElf_Ehdr *eh, const GElf_Phdr *p)
{
	const struct object *o = i->object;
	uint64_t before = p->p_offset % PAGE_BYTES, size = p->p_filesz;

	if (p->p_type == PT_DYNAMIC)
		i->dynamic = p->p_vaddr;
	if (p->p_type == PT_INTERP && p->p_offset < o->file_size &&
	    memchr(o->file + p->p_offset, 0, o->file_size - p->p_offset))
		i->interpreter = (const char *)o->file + p->p_offset;
	if (p->p_type != PT_LOAD || p->p_offset >= o->file_size)
		return;
	if (size > o->file_size - p->p_offset)
		size = o->file_size - p->p_offset;
	if (eh->e_phoff >= p->p_offset && eh->e_phoff - p->p_offset < size)
		i->phdr = p->p_vaddr + (eh->e_phoff - p->p_offset);
	if (p->p_flags & PF_W)
		return;
	size += before;
	i->constants[i->nr_constants++] = (struct segment) {
		.vaddr = p->p_vaddr - before, .offset = p->p_offset - before,
		.size = size + (-size % PAGE_BYTES),
	};
}

static void read_headers(struct gdb_image *i)
{
	const struct object *o = i->object;
	Elf *elf = o->file ? elf_memory((char *)o->file, o->file_size) : NULL;
	GElf_Ehdr eh;
	GElf_Phdr p;
	size_t nr;

	if (elf && gelf_getehdr(elf, &eh) && !elf_getphdrnum(elf, &nr)) {
		i->entry = eh.e_entry;
		i->nr_phdrs = nr;
		i->phdr_size = eh.e_phentsize;
		i->constants = mem_zalloc(nr, sizeof(*i->constants));
		for (size_t n = 0; n < nr; n++)
			if (gelf_getphdr(elf, n, &p))
				read_segment(i, &eh, &p);
	}
	elf_end(elf);
}

/* Report whether @thread has mapped the file since its last branch to user space. */
static bool is_recent(const struct gdb_image *image, const struct gdb_thread *thread)
{
	return image->thread == thread && image->visit == thread->visits;
}

static bool same_image(const struct gdb_image *a, const struct gdb_image *b)
{
	return a->object == b->object && a->bias == b->bias;
}

/*
 * Remove the images that overlap a new image. The trace does not report munmap(), so only such an
 * overlap shows that a file is no longer mapped.
 */
static void remove_replaced(struct gdb_session *g, const struct gdb_image *new)
{
	size_t kept = 0;

	for (size_t n = 0; n < g->nr_images; n++) {
		struct gdb_image *i = &g->images[n];

		if (same_image(i, new) || i->end <= new->begin || new->end <= i->begin)
			g->images[kept++] = *i;
		else
			free(i->constants);
	}
	g->nr_images = kept;
}

/* Extend the image by the range of another segment. */
static void extend(struct gdb_image *i, const struct gdb_image *segment)
{
	if (segment->begin < i->begin)
		i->begin = segment->begin;
	if (segment->end > i->end)
		i->end = segment->end;
}

/*
 * Add a file as an image. All executable segments of a file form one image. If the file is mapped
 * again, move the image to the end of the list.
 */
void gdb_add_image(struct gdb_session *g, const struct gdb_thread *thread,
		   const struct place *place, const struct row *row)
{
	struct gdb_image image = {
		.object = place->sym->object, .bias = row->from - place->addr,
		.begin = row->from, .end = row->to,
	};
	size_t n = 0;

	if (!image.object->is_file)
		return;
	remove_replaced(g, &image);
	while (n < g->nr_images && !same_image(&g->images[n], &image))
		n++;
	if (n < g->nr_images)
		extend(&g->images[n], &image);
	if (n < g->nr_images && is_recent(&g->images[n], thread))
		return;
	if (n == g->nr_images) {
		read_headers(&image);
		g->images = mem_realloc(g->images, n + 1, sizeof(*g->images));
		g->nr_images++;
	} else {
		image = g->images[n];
		memmove(&g->images[n], &g->images[n + 1],
			(g->nr_images - n - 1) * sizeof(*g->images));
	}
	image.thread = thread;
	image.visit = thread->visits;
	g->images[g->nr_images - 1] = image;
}

void gdb_forget_images(struct gdb_session *g, const struct gdb_thread *thread)
{
	size_t kept = 0;

	for (size_t n = 0; n < g->nr_images; n++) {
		if (is_recent(&g->images[n], thread))
			g->images[kept++] = g->images[n];
		else
			free(g->images[n].constants);
	}
	g->nr_images = kept;
}

void gdb_free_images(struct gdb_session *g)
{
	for (size_t n = 0; n < g->nr_images; n++)
		free(g->images[n].constants);
	free(g->images);
}

void gdb_choose_program(struct gdb_session *g)
{
	size_t n = 0;

	while (n < g->nr_images && g->images[n].object->path[0] != '/')
		n++;
	g->program = n < g->nr_images ? g->images[n].object : NULL;
	g->program_bias = g->program ? g->images[n].bias : 0;
}

const struct gdb_image *gdb_program(const struct gdb_session *g)
{
	for (size_t n = 0; n < g->nr_images; n++)
		if (g->images[n].object == g->program && g->images[n].bias == g->program_bias)
			return &g->images[n];
	return NULL;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

const struct gdb_image *gdb_interpreter(const struct gdb_session *g)
{
	const struct gdb_image *program = gdb_program(g);

	for (size_t n = 0; program && program->interpreter && n < g->nr_images; n++)
		if (!strcmp(base_name(g->images[n].object->path), base_name(program->interpreter)))
			return &g->images[n];
	return NULL;
}

/* Read from read-only segments. If the file ends inside a page, fill the page with zeros. */
static size_t read_constants(const struct gdb_image *i, uint64_t addr, uint8_t *bytes, size_t size)
{
	const struct object *o = i->object;

	for (size_t n = 0; n < i->nr_constants; n++) {
		const struct segment *s = &i->constants[n];
		uint64_t at = addr - s->vaddr, left;

		if (addr < s->vaddr || at >= s->size)
			continue;
		if (size > s->size - at)
			size = s->size - at;
		memset(bytes, 0, size);
		left = s->offset + at < o->file_size ? o->file_size - s->offset - at : 0;
		memcpy(bytes, o->file + s->offset + at, size < left ? size : left);
		return size;
	}
	return 0;
}

static size_t read_kernel(const struct gdb_session *g, uint64_t addr, uint8_t *bytes, size_t size)
{
	const uint8_t *found = NULL;
	size_t room;

	if (g->kernel)
		found = object_bytes(g->pipe.objects.kernel, addr, &room);
	if (!found)
		return 0;
	if (size > room)
		size = room;
	memcpy(bytes, found, size);
	return size;
}

size_t gdb_read_memory(const struct gdb_session *g, uint64_t addr, uint8_t *bytes, size_t size)
{
	size_t done = 0;

	if (is_kernel(addr))
		return read_kernel(g, addr, bytes, size);
	/* If segments overlap, read from the latest mapping. */
	for (size_t n = g->nr_images; n-- && !done;)
		done = read_constants(&g->images[n], addr - g->images[n].bias, bytes, size);
	return done;
}
