/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The call trees of two runs, in which each subtree exists once.
 *
 * An element of a sequence is a number: a token, which is a branch, or, with NODE_BIT, a node.
 *
 *	TASK	the outermost calls of a task
 *	CALL	what a function did: its branches, calls and loops
 *	LOOP	the complete iterations of a loop but the first
 *	ITER	an iteration: its last branch leads back to the loop's beginning
 *	RUN	an iteration, and how often it was repeated
 *	CHUNK	a part of a long sequence, cut where its content says so: equal parts of
 *		two sequences are equal chunks, wherever they lie
 *
 * Addresses are those of files, so two runs of a program have the same tokens wherever the
 * program was loaded.
 *
 * Included by: diff/, why/, cmd/diff.c.
 */
#ifndef BTS_DIFF_TREE_H
#define BTS_DIFF_TREE_H

#include "flow/pipeline.h"
#include "flow/tally.h"

#define NODE_BIT	0x80000000U
#define NONE		0xffffffffU

/**
 * struct token - a straight run and the branch at its end
 * @same:	equal for equal branches, whatever the run before them
 * @header:	of a jump back within a function: a number for its target; or 0
 * @entry:	of a jump ahead within a function, the same: a loop may be entered there
 * @objects:	numbers of the objects of @start, @from and @to
 * @insns:	of the run, the branch included
 */
struct token {
	struct place	start;
	struct place	from;
	struct place	to;
	uint64_t	from_addr;
	uint64_t	to_addr;
	uint32_t	objects[3];
	uint32_t	same;
	uint32_t	header;
	uint32_t	entry;
	uint32_t	insns;
	uint8_t		kind;
};

enum node_type {
	NODE_TASK,
	NODE_CALL,
	NODE_LOOP,
	NODE_ITER,
	NODE_RUN,
	NODE_CHUNK,
};

/**
 * struct node - a subtree
 * @begin:	its first element; of a run, how often @key is repeated
 * @nr:		its elements
 * @insns:	executed in it
 * @branches:	taken in it
 * @key:	of a call, its function; of a loop, its header; of a run, the iteration
 */
struct node {
	uint64_t	hash;
	uint64_t	begin;
	uint64_t	insns;
	uint64_t	branches;
	uint32_t	nr;
	uint32_t	key;
	uint8_t		type;
};

/**
 * struct function - a function, or code that has no symbol
 * @noise:	NOISE_*, or 0: the calls are compared, but not what the function does
 * @stub:	procedure linkage, which is not compared
 * @runtime:	of the C library, the C++ library or the dynamic linker
 * @syscall:	the kernel's function for a system call
 */
struct function {
	struct sym	*sym;
	uint64_t	addr;
	uint8_t		noise;
	bool		stub;
	bool		runtime;
	bool		syscall;
};

#define RECENT_NR	8192

/**
 * struct forest - the nodes of all runs
 * @slots:	a hash table of @nodes: their numbers, plus 1
 * @recent:	nodes found lately, by a few of their elements: most calls repeat one of these
 * @places:	numbers of branches
 * @steps:	tokens
 * @names:	functions
 * @objects:	names of objects
 * @entries:	the numbers of places that are entered by jumps ahead
 * @all:	nothing is left out
 * @kernel:	only the kernel's side is compared, without interrupts
 */
struct forest {
	struct token	*tokens;
	size_t		nr_tokens;
	size_t		tokens_room;
	struct node	*nodes;
	size_t		nr_nodes;
	size_t		nodes_room;
	uint32_t	*elems;
	size_t		nr_elems;
	size_t		elems_room;
	uint32_t	*slots;
	size_t		nr_slots;
	uint32_t	recent[RECENT_NR];
	struct function	*functions;
	size_t		nr_functions;
	struct tally	places;
	struct tally	steps;
	struct tally	names;
	uint32_t	nr_places;
	bool		*entries;
	uint32_t	nr_entries;
	uint32_t	nr_objects;
	char		**objects;
	bool		all;
	bool		kernel;
};

/* Is the loop with this header entered by a jump to its condition? */
static inline bool is_entered(const struct forest *f, uint32_t header)
{
	return header < f->nr_entries && f->entries[header];
}

static inline bool is_node(uint32_t elem)
{
	return elem & NODE_BIT;
}

static inline struct node *node_of(const struct forest *f, uint32_t elem)
{
	return &f->nodes[elem & ~NODE_BIT];
}

static inline struct token *token_of(const struct forest *f, uint32_t elem)
{
	return &f->tokens[elem];
}

/* Most sequences are short: that is quicker than memcmp(). */
static inline bool same_elems(const uint32_t *a, const uint32_t *b, uint32_t nr)
{
	while (nr && a[nr - 1] == b[nr - 1])
		nr--;
	return !nr;
}

/* Equal for equal elements. */
static inline uint32_t elem_key(const struct forest *f, uint32_t elem)
{
	return is_node(elem) ? elem : f->tokens[elem].same;
}

/* The step's token. @start, @insns: of the whole run, if interrupts have cut it. */
uint32_t forest_token(struct forest *f, const struct step *s, const struct place *start,
		      uint32_t insns);
/* A number for the way straight on from a conditional branch. */
uint32_t forest_place(struct forest *f, uint32_t object, uint64_t addr);
/* The function's number. @addr: where code without a symbol was entered. */
uint32_t forest_function(struct forest *f, struct sym *sym, uint64_t addr);
/* The node with these elements, made if there is none. */
uint32_t forest_node(struct forest *f, enum node_type type, uint32_t key,
		     const uint32_t *elems, uint32_t nr);
/* The same: an iteration that was repeated @count times. */
uint32_t forest_run(struct forest *f, uint32_t iter, uint64_t count);
void elem_sums(const struct forest *f, uint32_t elem, uint64_t *insns, uint64_t *branches);
void forest_free(struct forest *f);

#endif
