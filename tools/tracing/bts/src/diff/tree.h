/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Build the call trees of several runs. Equal subtrees are stored once.
 *
 * A token is a straight run (consecutive instructions) and the branch at its end. A node contains
 * elements. An element is a token's number or, if NODE_BIT is set, a node's number. Types of nodes:
 *
 *	TASK	a task: its outermost calls
 *	CALL	a call of a function: the branches, calls and loops in this call
 *	LOOP	a loop: its iterations, without the first and the last iteration
 *	ITER	an iteration of a loop. Its last branch leads back to the start of the loop
 *	RUN	equal iterations in succession, stored as one ITER and the number of iterations
 *	CHUNK	a part of a long sequence. The elements determine where the sequence is cut, so
 *		equal parts of two sequences become equal chunks, even at different positions
 *
 * Addresses are ELF addresses, so the tokens do not depend on the load address of a program.
 *
 * Included by: diff/, why/, cmd/diff.c.
 */
#ifndef BTS_DIFF_TREE_H
#define BTS_DIFF_TREE_H

#include "flow/pipeline.h"
#include "flow/tally.h"

struct inlined;

#define NODE_BIT	0x80000000U
#define NONE		0xffffffffU

/**
 * struct token - a straight run (instructions without a taken branch) and the branch at its end
 * @same:	a number that is the same for equal branches, even if the straight runs before the
 *		branches differ
 * @header:	for a backward jump within a function, the ID of @to in forest.places; otherwise 0
 * @entry:	for a forward jump that may enter a loop, the ID of @to in forest.places; else 0
 * @objects:	for each of @start, @from and @to, 1 + the index of its object in forest.objects
 * @insns:	number of instructions in the straight run, including the branch
 * @site:	for a call, 1 + the index of its struct site (recall.c), or 0
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
	uint32_t	site;
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
 * @begin:	index of the node's first element or, for NODE_RUN, the number of repetitions of
 *		@key
 * @nr:		number of the node's elements
 * @insns:	executed instructions
 * @branches:	taken branches
 * @key:	for NODE_CALL, the index of the function; for NODE_LOOP and NODE_ITER, the ID of the
 *		loop's first instruction; for NODE_RUN, the NODE_ITER that is repeated
 * @calls:	number of counted calls (is_counted()) in the subtree, at most UINT32_MAX. If the
 *		node is a counted NODE_CALL, the number includes the node's own call
 */
struct node {
	uint64_t	hash;
	uint64_t	begin;
	uint64_t	insns;
	uint64_t	branches;
	uint32_t	nr;
	uint32_t	key;
	uint8_t		type;
	uint32_t	calls;
};

/**
 * struct function - a function, or code without a symbol
 * @within:	with --inline, the inlined function that calls this function, or NULL
 * @base:	the index of the struct function that has the same @sym, but no @within
 * @noise:	why branches inside the function are not compared (NOISE_*); 0 if they are compared
 * @stub:	a stub in the PLT, which is not compared
 * @runtime:	part of the C library, the C++ library or the dynamic linker
 * @syscall:	the function handles a system call in the kernel, such as __x64_sys_read()
 */
struct function {
	struct sym	*sym;
	uint64_t	addr;
	const struct inlined *within;
	uint32_t	base;
	uint8_t		noise;
	bool		stub;
	bool		runtime;
	bool		syscall;
};

struct memory;

#define RECENT_NR	8192

/**
 * struct forest - the nodes of all runs
 * @slots:	a hash table; an entry is 1 + the index of a node in @nodes, or 0
 * @recent:	a cache of nodes for forest_node(), because new nodes are often equal to recent
 *		nodes. recent_slot() computes the index
 * @places:	maps branches and places to IDs
 * @steps:	maps each step to the number of the step's token
 * @names:	maps each function to 1 + its index in @functions
 * @objects:	names of objects
 * @entries:	flags, indexed by a place's ID: set if a forward jump leads to the place
 * @memory:	the calls that recall.c remembers, or NULL
 * @all:	compare everything
 * @kernel:	compare only the branches in the kernel, except those in interrupts
 * @inlines:	show inlined functions
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
	struct memory	*memory;
	bool		all;
	bool		kernel;
	bool		inlines;
};

/* Report whether node.calls includes the calls to this function. */
static inline bool is_counted(const struct forest *f, uint32_t function)
{
	return f->all || !f->functions[function].sym->object->kernel;
}

/* Report whether a forward jump leads to a loop's first instruction, whose ID is @header. */
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

/* Compare two sequences. Most sequences are short, so this function is faster than memcmp(). */
static inline bool same_elems(const uint32_t *a, const uint32_t *b, uint32_t nr)
{
	while (nr && a[nr - 1] == b[nr - 1])
		nr--;
	return !nr;
}

/* Return a key for aligning elements. Tokens that stand for equal branches have the same key. */
static inline uint32_t elem_key(const struct forest *f, uint32_t elem)
{
	return is_node(elem) ? elem : f->tokens[elem].same;
}

/* Return the token of a step whose straight run begins at @start and has @insns instructions. */
uint32_t forest_token(struct forest *f, const struct step *s, const struct place *start,
		      uint32_t insns);
/* Return a unique ID for the outcome that the conditional branch at @addr is not taken. */
uint32_t forest_place(struct forest *f, uint32_t object, uint64_t addr);
/*
 * Return the index of a function. If the code has no symbol, @addr is the entry point; otherwise,
 * @addr is ignored. @within is the inlined function that calls the function, or NULL.
 */
uint32_t forest_function(struct forest *f, struct sym *sym, uint64_t addr,
			 const struct inlined *within);
/* Find or create the node with these elements. */
uint32_t forest_node(struct forest *f, enum node_type type, uint32_t key,
		     const uint32_t *elems, uint32_t nr);
/* Find or create a node for @count repetitions of an iteration. */
uint32_t forest_run(struct forest *f, uint32_t iter, uint64_t count);
void elem_sums(const struct forest *f, uint32_t elem, uint64_t *insns, uint64_t *branches);
void forest_free(struct forest *f);
/* recall.c */
void memory_free(struct memory *m);

#endif
