/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A finished run, as gdb steps through it: what the files of bts gdb share.
 *
 *	trace --position.c--> the place up to which the run is shown, and its process
 *	      --run.c-------> threads, each with its last blocks (blocks.c); files (images.c)
 *	      --server.c----> packets of gdb's remote protocol (packets.c), documents (xfer.c)
 *
 * gdb calls such a history "record btrace", in the format bts. A block is code that was executed
 * in a straight line: from where a branch led to the next branch.
 *
 * Included by: gdb/, cmd/gdb.c.
 */
#ifndef BTS_GDB_H
#define BTS_GDB_H

#include "flow/pipeline.h"
#include "lib/bytes.h"

/* @end is the first byte of the last instruction. A gap has @begin 1 and @end 0. */
struct gdb_block {
	uint64_t	begin;
	uint64_t	end;
};

/**
 * struct gdb_thread - a task of the process
 * @tid:	its number
 * @cpu:	where it was last
 * @comm:	its name at the end
 * @pc:		where it is at the end; 0 if nothing of it is known
 * @blocks:	a ring of @room blocks
 * @room:	at most the session's window
 * @pushed:	blocks in all; the latest of them are in the ring
 * @cut_begin:	the block that an interrupt has cut began here; 0: there is none
 * @cut_end:	the instruction before which the interrupt came
 * @cut_at:	@cut_end, looked up
 */
struct gdb_thread {
	int			tid;
	int			cpu;
	char			comm[16];
	uint64_t		pc;
	struct gdb_block	*blocks;
	size_t			room;
	uint64_t		pushed;
	uint64_t		cut_begin;
	uint64_t		cut_end;
	struct place		cut_at;
};

/**
 * struct gdb_image - a file that the process has mapped
 * @object:	the file
 * @bias:	what is to be subtracted from an address to have the file's
 * @visit:	the session's @visit when the file was mapped
 * @constants:	what is loaded of the file and cannot be written
 * @nr_constants: so many of them
 * @entry:	where the program begins, as the file counts addresses
 * @phdr:	where the program headers are
 * @nr_phdrs:	how many there are
 * @phdr_size:	bytes of each
 * @dynamic:	where the dynamic section is
 * @interpreter: of a program: the dynamic linker's path, or NULL
 */
struct gdb_image {
	struct object	*object;
	uint64_t	bias;
	uint64_t	visit;
	struct segment	*constants;
	size_t		nr_constants;
	uint64_t	entry;
	uint64_t	phdr;
	uint64_t	nr_phdrs;
	uint64_t	phdr_size;
	uint64_t	dynamic;
	const char	*interpreter;
};

/**
 * struct gdb_session - a process of a trace, up to a place in the trace
 * @path:	the trace
 * @at:		an event, a time, or NULL for the end
 * @window:	blocks of each thread
 * @kernel:	the kernel's branches as well
 * @tgid:	the process, or a task of it; 0: the one that ran last before the place
 * @current:	the thread that ran last before the place
 * @stop:	the place: so many branches and rows are before it
 * @seen:	of these
 * @ts:		when the last of them was, in nanoseconds
 * @visit:	how often the process has gone on in user space
 * @images:	in the order of their mapping
 * @program:	the program's file, or NULL,
 * @program_bias: and the bias of its image
 * @kernel_file: the kernel's symbols as a file, -1 if there is none
 */
struct gdb_session {
	struct pipe		pipe;
	struct options		options;
	const char		*path;
	const char		*at;
	unsigned long		window;
	bool			kernel;
	int			tgid;
	struct gdb_thread	*current;
	struct gdb_thread	*threads;
	size_t			nr_threads;
	uint64_t		stop;
	uint64_t		seen;
	uint64_t		ts;
	uint64_t		visit;
	struct gdb_image	*images;
	size_t			nr_images;
	struct object		*program;
	uint64_t		program_bias;
	int			kernel_file;
};

/* position.c: find @stop, @tgid, and the threads of the process. False after a message. */
bool gdb_find_position(struct gdb_session *g);

/* run.c: fill the threads and the images. False after a message. */
bool gdb_read_run(struct gdb_session *g);
void gdb_free_run(struct gdb_session *g);

/* blocks.c: a step of the thread; with @kernel those of the kernel count as well. */
void gdb_add_step(struct gdb_thread *t, const struct step *s, size_t window, bool kernel);
/* Branches are missing here. */
void gdb_add_gap(struct gdb_thread *t, size_t window);
/* The thread runs another program. */
void gdb_clear_blocks(struct gdb_thread *t);
/* The run ends here. */
void gdb_end_blocks(struct gdb_thread *t, size_t window);
/* How many blocks are kept, and the one that was the @nth before the latest. */
size_t gdb_nr_blocks(const struct gdb_thread *t);
struct gdb_block gdb_block_before(const struct gdb_thread *t, size_t nth);
bool gdb_is_gap(struct gdb_block block);

/* images.c */
void gdb_add_image(struct gdb_session *g, const struct place *place, uint64_t addr);
/* Forget what was mapped before the process was last in user space. */
void gdb_forget_images(struct gdb_session *g);
/* The program is the file that was mapped first: exec() does that, and it is mostly the lowest. */
void gdb_choose_program(struct gdb_session *g);
/* The program; NULL if no file is known. */
const struct gdb_image *gdb_program(const struct gdb_session *g);
/* The program's dynamic linker; NULL if there is none. */
const struct gdb_image *gdb_interpreter(const struct gdb_session *g);
void gdb_free_images(struct gdb_session *g);
/* Code and constants. Return how many bytes from @addr on were read. */
size_t gdb_read_memory(const struct gdb_session *g, uint64_t addr, uint8_t *bytes, size_t size);

/* kernel_file.c: the kernel's symbols and code sections as an ELF file; -1 after a message. */
int gdb_make_kernel_file(const struct object *kernel);

/* xfer.c: the document that qXfer:@object:read:@annex: asks for; false if there is none. */
bool gdb_document(struct gdb_session *g, const struct gdb_thread *t, const char *object,
		  const char *annex, struct bytes *out);

/* server.c: answer gdb's packets until it leaves. */
void gdb_serve(struct gdb_session *g, int in, int out);
/* listen.c: listen on 127.0.0.1, and serve one gdb after another. Returns on failure only. */
int gdb_listen(struct gdb_session *g, unsigned long port);

#endif
