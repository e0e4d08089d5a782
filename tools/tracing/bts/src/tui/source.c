// SPDX-License-Identifier: GPL-2.0-only
/*
 * Show the source of a function, with the number of executed instructions for each line.
 */
#include <ncurses.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "lib/source.h"
#include "symbols/inlines.h"
#include "tui.h"

/**
 * struct listing - a source file on the screen
 * @counts:	number of executed instructions of each line
 */
struct listing {
	struct source	source;
	uint64_t	*counts;
};

static bool read_listing(struct listing *l, const char *path)
{
	if (!source_read(&l->source, path))
		return false;
	/* Replace each tab by a space, because a tab would move the text by several columns. */
	for (size_t i = 0; i < l->source.nr; i++)
		for (char *c = l->source.lines[i]; *c; c++)
			if (*c == '\t')
				*c = ' ';
	l->counts = mem_zalloc(l->source.nr + 1, sizeof(*l->counts));
	return true;
}

static void count_lines(struct listing *l, const struct tui *t, const char *path)
{
	for (size_t i = 0; i < t->lines.room; i++) {
		const struct tally_entry *e = &t->lines.slots[i];

		if (e->key.a && e->key.a_addr && e->key.a_addr <= l->source.nr &&
		    !strcmp(e->key.b, path))
			l->counts[e->key.a_addr - 1] += e->insns;
	}
}

static void draw(const struct listing *l, const char *path, size_t first)
{
	erase();
	attron(A_REVERSE);
	mvprintw(0, 0, "%-*.*s", COLS, COLS, path);
	attroff(A_REVERSE);
	for (int y = 1; y < LINES - 1 && first + y - 1 < l->source.nr; y++) {
		size_t line = first + y - 1;

		move(y, 0);
		if (l->counts[line])
			printw("%12llu ", (unsigned long long)l->counts[line]);
		else
			printw("%12s ", "");
		printw("%5zu  %.*s", line + 1, COLS > 22 ? COLS - 22 : 0, l->source.lines[line]);
	}
	mvprintw(LINES - 1, 0, "instructions by line   arrows, page keys: move   q: back");
	refresh();
}

static void browse(const struct listing *l, const char *path, size_t first)
{
	for (;;) {
		size_t page = LINES > 3 ? LINES - 3 : 1;

		draw(l, path, first);
		switch (getch()) {
		case KEY_UP:
			first -= first > 0;
			break;
		case KEY_DOWN:
			first += first + 1 < l->source.nr;
			break;
		case KEY_PPAGE:
			first = first > page ? first - page : 0;
			break;
		case KEY_NPAGE:
			if (first + page < l->source.nr)
				first += page;
			break;
		case 'q':
		case 27:
		case ERR:
			return;
		}
	}
}

/* Find the source file and first line of a function. Return false if the file is unknown. */
static bool find_source(struct sym *sym, const char **path, unsigned int *line)
{
	int declared;

	if (!sym->inlined)
		return object_line(sym->object, sym->addr, path, line);
	*path = inlined_declaration(sym, &declared);
	*line = declared;
	return *path && declared > 0;
}

void tui_source(struct tui *t, struct sym *sym)
{
	struct listing l = {};
	unsigned int line;
	const char *path;

	if (!find_source(sym, &path, &line) || !read_listing(&l, path)) {
		mvprintw(LINES - 1, 0, "%s: no source  ", sym->name);
		clrtoeol();
		refresh();
		getch();
		return;
	}
	count_lines(&l, t, path);
	browse(&l, path, line > 4 ? line - 4 : 0);
	source_free(&l.source);
	free(l.counts);
}
