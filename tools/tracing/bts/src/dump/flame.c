// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write a flame graph as an SVG picture for browsers. The lowest box stands for all tasks, and each
 * box directly above it stands for a task name. The remaining boxes are functions. The width of a
 * box is the cost of the function and all its callees. The box below a function is the function's
 * caller. Boxes that stand on the same box are sorted by name, from left to right.
 *
 * A tooltip shows the name and the count of a box. If a box is too narrow or too far up, this box
 * and all boxes above it are left out. The picture's last line counts the boxes that are too narrow
 * or too far up, but not the boxes above them. The script in the picture handles clicks. A browser
 * runs the script only if the user opens the picture itself, not a page that contains the picture.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/html.h"
#include "lib/json.h"
#include "lib/mem.h"
#include "lib/text.h"
#include "flame_script.h"
#include "stacks.h"

enum {
	WIDTH		= 1000,
	MARGIN		= 10,
	ROW		= 16,
	FOOT		= 30,
	DEPTH_MAX	= 200,
	LETTER		= 7,		/* a little more than the width of a letter */
};

/* The minimum width of a box that is drawn. */
#define NARROW		0.3

struct box {
	const struct stacks_node	*node;
	double				x, width;
	unsigned int			depth;
};

struct flame {
	const struct dump	*dump;
	uint64_t		total;
	struct box		*boxes;
	size_t			nr, room;
	unsigned int		depth;
	uint64_t		left_out;
};

static void add_box(struct flame *f, const struct stacks_node *n, double x, unsigned int depth)
{
	double width = (double)n->total * (WIDTH - 2 * MARGIN) / f->total;

	if (width < NARROW || depth >= DEPTH_MAX) {
		f->left_out++;
		return;
	}
	if (f->nr == f->room) {
		f->room = f->room ? 2 * f->room : 256;
		f->boxes = mem_realloc(f->boxes, f->room, sizeof(*f->boxes));
	}
	f->boxes[f->nr++] = (struct box) { n, x, width, depth };
	if (depth >= f->depth)
		f->depth = depth + 1;
}

/* Compute the positions of all boxes. The loop appends the children of each box to the list. */
static void lay_out(struct flame *f, const struct stacks_node *root)
{
	add_box(f, root, MARGIN, 0);
	for (size_t i = 0; i < f->nr; i++) {
		struct stacks_node **children;
		struct box at = f->boxes[i];
		size_t nr;

		children = stacks_children(at.node, &nr);
		for (size_t c = 0; c < nr; c++) {
			add_box(f, children[c], at.x, at.depth + 1);
			at.x += (double)children[c]->total * (WIDTH - 2 * MARGIN) / f->total;
		}
		free(children);
	}
}

/* Write at most @max characters of a string. If the string is longer, end with two dots. */
static void put_start(FILE *out, const char *text, size_t max)
{
	const char *rest = text, *cut = text;
	char c[JSON_CHARACTER], *start;
	size_t nr;

	for (nr = 0; nr <= max && json_next(&rest, c); nr++)
		if (nr + 2 < max)
			cut = rest;
	start = nr > max ? mem_format("%.*s..", (int)(cut - text), text) : mem_strdup(text);
	html_text(out, start);
	free(start);
}

static const char *name_of(const struct stacks_node *n)
{
	return n->comm ? n->comm : n->sym ? n->sym->name : "all";
}

/* Write a box's colour: grey (tasks), orange (the kernel), yellow (libraries), green (others). */
static void put_colour(FILE *out, const struct stacks_node *n)
{
	unsigned int hash = 5381, hue = 95, light;

	if (!n->sym) {
		fputs("#ccc", out);
		return;
	}
	for (const char *c = n->sym->name; *c; c++)
		hash = hash * 33 + (unsigned char)*c;
	light = 64 + hash % 16;
	if (n->sym->object->kernel)
		hue = 28;
	else if (strstr(n->sym->object->name, ".so"))
		hue = 50;
	fprintf(out, "hsl(%u,75%%,%u%%)", hue, light);
}

static void put_cost(const struct flame *f, uint64_t cost)
{
	bool branches = f->dump->by_branches;

	fprintf(f->dump->out, "%llu %s%s", (unsigned long long)cost,
		branches ? "branch" : "instruction", text_plural(cost, branches ? "es" : "s"));
}

static void put_box(const struct flame *f, const struct box *b)
{
	unsigned int y = (f->depth - b->depth - 1) * ROW + MARGIN;
	size_t letters = b->width / LETTER;
	FILE *out = f->dump->out;

	fprintf(out, "<g><title>");
	html_text(out, name_of(b->node));
	if (b->node->sym)
		fputs("  (", out);
	if (b->node->sym)
		html_text(out, b->node->sym->object->name);
	fputs(b->node->sym ? "): " : ": ", out);
	put_cost(f, b->node->total);
	fprintf(out, ", %.2f%%</title>", 100.0 * b->node->total / f->total);
	/* Write three decimal places, because the script magnifies narrow boxes. */
	fprintf(out, "<rect x=\"%.3f\" y=\"%u\" width=\"%.3f\" height=\"%d\" fill=\"", b->x, y,
		b->width, ROW - 1);
	put_colour(out, b->node);
	fputs("\"/>", out);
	if (letters >= 3) {
		fprintf(out, "<text x=\"%.1f\" y=\"%u\">", b->x + 3, y + 11);
		put_start(out, name_of(b->node), letters);
		fputs("</text>", out);
	}
	fputs("</g>\n", out);
}

static void print(const struct flame *f)
{
	unsigned int height = f->depth * ROW + MARGIN + FOOT;
	FILE *out = f->dump->out;

	fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\"\n",
		WIDTH, height);
	fprintf(out, "viewBox=\"0 0 %d %u\" font-family=\"monospace\" font-size=\"11\">\n",
		WIDTH, height);
	fputs("<style>g rect { stroke: #fff; stroke-width: .4 }</style>\n"
	      "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n", out);
	for (size_t i = 0; i < f->nr; i++)
		put_box(f, &f->boxes[i]);
	fprintf(out, "<text x=\"%d\" y=\"%u\" fill=\"#555\">", MARGIN, height - 12);
	put_cost(f, f->total);
	fprintf(out, "; %llu narrow box%s not drawn</text>\n%s</svg>\n",
		(unsigned long long)f->left_out, f->left_out == 1 ? " is" : "es are", flame_script);
}

int dump_flame(struct dump *d)
{
	struct flame f = { .dump = d };
	struct stacks_node root;
	int status = stacks_read(d, &root);

	f.total = root.total ? root.total : 1;
	lay_out(&f, &root);
	print(&f);
	free(f.boxes);
	stacks_free(&root);
	return status;
}
