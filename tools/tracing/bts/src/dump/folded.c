// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write folded stacks for flamegraph.pl, speedscope and inferno, which draw flame graphs. Each
 * line, such as "task;main;fib;fib 1234", contains a stack and the number of instructions or
 * branches that the innermost function executed, without its callees. The suffix _[k] marks
 * kernel functions, which flamegraph.pl draws in another colour.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "stacks.h"

/* Append a name. Replace ';' and newlines, because these characters separate names and stacks. */
static size_t append(char **stack, size_t *room, size_t used, const struct stacks_node *n)
{
	const char *name = n->comm ? n->comm : n->sym->name;
	bool kernel = !n->comm && n->sym->object->kernel;
	size_t length = strlen(name);

	if (used + length + 8 > *room) {
		*room = 2 * (used + length + 8);
		*stack = mem_realloc(*stack, *room, 1);
	}
	if (used)
		(*stack)[used++] = ';';
	for (size_t i = 0; i < length; i++)
		(*stack)[used++] = name[i] == ';' || name[i] == '\n' ? ':' : name[i];
	if (kernel) {
		memcpy(*stack + used, "_[k]", 4);
		used += 4;
	}
	(*stack)[used] = 0;
	return used;
}

struct level {
	struct stacks_node	**children;
	size_t			nr;
	size_t			next;
	size_t			used;
};

static void open_level(struct level *l, const struct stacks_node *n, size_t used)
{
	l->children = stacks_children(n, &l->nr);
	l->next = 0;
	l->used = used;
}

/* Print all stacks. This function is not recursive, because stacks may contain a million frames. */
static void print(const struct dump *d, const struct stacks_node *root)
{
	size_t depth = 1, levels_room = 64, room = 0;
	struct level *levels = mem_alloc(levels_room * sizeof(*levels));
	char *stack = NULL;

	open_level(&levels[0], root, 0);
	while (depth) {
		struct level *l = &levels[depth - 1];
		struct stacks_node *n;
		uint64_t count;
		size_t used;

		if (l->next == l->nr) {
			free(l->children);
			depth--;
			continue;
		}
		n = l->children[l->next++];
		used = append(&stack, &room, l->used, n);
		count = stacks_count(d, n);
		if (count)
			fprintf(d->out, "%s %llu\n", stack, (unsigned long long)count);
		if (depth == levels_room) {
			levels_room *= 2;
			levels = mem_realloc(levels, levels_room, sizeof(*levels));
		}
		open_level(&levels[depth++], n, used);
	}
	free(levels);
	free(stack);
}

int dump_folded(struct dump *d)
{
	struct stacks_node root;
	int status = stacks_read(d, &root);

	print(d, &root);
	stacks_free(&root);
	return status;
}
