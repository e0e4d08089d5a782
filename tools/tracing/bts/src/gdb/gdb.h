/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Declarations for bts gdb, which lets the user step through a recorded run as if gdb executed the
 * program.
 *
 *	position.c	finds the process and the end of the run
 *	run.c		reads the threads with their last blocks (blocks.c) and the files (images.c)
 *	server.c	answers gdb's packets (packets.c), and sends documents to gdb (xfer.c)
 *
 * gdb shows the run as if gdb had recorded it with "record btrace bts". Such a history consists of
 * blocks. A block contains the consecutive instructions between two branches.
 *
 * Included by: gdb/, cmd/gdb.c.
 */
#ifndef BTS_GDB_H
#define BTS_GDB_H

#include "flow/pipeline.h"
#include "lib/bytes.h"

/* @end is the address of the block's last instruction. For a gap, @begin is 1 and @end is 0. */
struct gdb_block {
	uint64_t	begin;
	uint64_t	end;
};

/**
 * struct gdb_thread - a task of the process
 * @tid:	the thread ID
 * @cpu:	the last CPU of the thread
 * @comm:	the thread's last name
 * @pc:		the thread's last PC, or 0 if unknown
 * @blocks:	a ring buffer of @room blocks
 * @room:	the size of @blocks, at most the session's @window
 * @pushed:	total number of blocks so far; @blocks contains the latest blocks
 * @cut_begin:	the start of the block that an interrupt cut short, or 0
 * @cut_end:	the address of the interrupted instruction, which was not executed
 * @cut_at:	the interrupted instruction's function, and the instruction's address in the file
 * @visits:	the number of branches to user space so far
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
	uint64_t		visits;
};

/**
 * struct gdb_image - a file that the process has mapped
 * @object:	the file
 * @bias:	the address of a byte in the process minus the byte's ELF address (as in p_vaddr)
 * @begin:	the address of the first mapped code
 * @end:	the end of the mapped code
 * @thread:	the thread that mapped the file
 * @visit:	the value of @thread->visits when the file was mapped
 * @constants:	the @nr_constants read-only segments of the file
 * @nr_constants: the number of @constants
 * @entry:	the ELF address of the entry point
 * @phdr:	the ELF address of the program headers
 * @nr_phdrs:	the number of program headers
 * @phdr_size:	the size of a program header
 * @dynamic:	the ELF address of the dynamic section
 * @interpreter: for a program, the path of the dynamic linker, or NULL
 */
struct gdb_image {
	struct object	*object;
	uint64_t	bias;
	uint64_t	begin;
	uint64_t	end;
	const struct gdb_thread *thread;
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
 * struct gdb_session - the run of a process, from the start of the trace to the place @at
 * @path:	the name of the trace
 * @at:		where the run ends: an event, a time, or NULL for the end of the trace
 * @window:	the maximum number of blocks of a thread
 * @kernel:	also show branches in the kernel
 * @tgid:	the ID of a process or of any of its tasks; if 0, position.c chooses the
 *		process that ran last before @at
 * @current:	the thread that ran last before @at
 * @stop:	the number of branches and rows up to @at
 * @seen:	the number of branches and rows that have been read so far
 * @ts:		the timestamp of the branch or row at which the run ends, in nanoseconds
 * @images:	the mapped files, the latest mapping last
 * @program:	the program's file, or NULL
 * @program_bias: the bias of the program's image
 * @kernel_file: a descriptor of a file with the kernel's symbols, or -1
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
	struct gdb_image	*images;
	size_t			nr_images;
	struct object		*program;
	uint64_t		program_bias;
	int			kernel_file;
};

/* position.c: find @stop, @tgid and the threads. On failure, print a message and return false. */
bool gdb_find_position(struct gdb_session *g);

/* run.c: read the threads and the images. On failure, print a message and return false. */
bool gdb_read_run(struct gdb_session *g);
void gdb_free_run(struct gdb_session *g);

/* blocks.c: add a step of the thread. If @kernel is not set, ignore code in the kernel. */
void gdb_add_step(struct gdb_thread *t, const struct step *s, size_t window, bool kernel);
/* Add a gap where branches are missing. */
void gdb_add_gap(struct gdb_thread *t, size_t window);
/* Drop all blocks, because the thread now runs another program. */
void gdb_clear_blocks(struct gdb_thread *t);
/* At the end of the run, add the block that is still open, and the current instruction. */
void gdb_end_blocks(struct gdb_thread *t, size_t window);
/* Return the number of stored blocks. */
size_t gdb_nr_blocks(const struct gdb_thread *t);
/* Return the last block if @nth is 0, the last but one if @nth is 1, and so on. */
struct gdb_block gdb_block_before(const struct gdb_thread *t, size_t nth);
bool gdb_is_gap(struct gdb_block block);

/* images.c */
/* Add the mapped file that the row reports. @place is row->from, looked up with place_find(). */
void gdb_add_image(struct gdb_session *g, const struct gdb_thread *thread,
		   const struct place *place, const struct row *row);
/* Keep only the files that @thread has mapped since its last branch to user space. */
void gdb_forget_images(struct gdb_session *g, const struct gdb_thread *thread);
/* Choose the first mapped file as the program, because exec() maps the program first. */
void gdb_choose_program(struct gdb_session *g);
/* Return the program, or NULL if unknown. */
const struct gdb_image *gdb_program(const struct gdb_session *g);
/* Return the program's dynamic linker, or NULL if it was not found. */
const struct gdb_image *gdb_interpreter(const struct gdb_session *g);
void gdb_free_images(struct gdb_session *g);
/* Read memory that contains code or constants. Return the number of bytes that were read. */
size_t gdb_read_memory(const struct gdb_session *g, uint64_t addr, uint8_t *bytes, size_t size);

/* kernel_file.c: create an ELF file for the kernel. On failure, print a message and return -1. */
int gdb_make_kernel_file(const struct object *kernel);

/* xfer.c: write the document that a qXfer packet requests. If it does not exist, return false. */
bool gdb_document(struct gdb_session *g, const struct gdb_thread *t, const char *object,
		  const char *annex, struct bytes *out);

/* server.c: answer gdb's packets until gdb disconnects. */
void gdb_serve(struct gdb_session *g, int in, int out);
/* listen.c: listen on 127.0.0.1, and serve one gdb after another. Return only after a failure. */
int gdb_listen(struct gdb_session *g, unsigned long port);

#endif
