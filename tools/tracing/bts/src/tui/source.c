// SPDX-License-Identifier: GPL-2.0-only
/*
 * Show the source of a function, with the number of instructions executed for each line.
 */
#include <ncurses.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "symbols/inlines.h"
#include "tui.h"

#define LINE_MAX_SHOWN 500

struct source {
	char		**lines;
	uint64_t	*counts;
	size_t		nr;
};

static bool read_source(struct source *s, const char *path)
{
	FILE *file = fopen(path, "r");
	char *line = NULL;
	size_t room = 0;

	if (!file)
		return false;
	while (getline(&line, &room, file) >= 0) {
		line[strcspn(line, "\r\n")] = 0;
		/* Replace control characters, because they would move the cursor. */
		for (char *c = line; *c; c++)
			if ((unsigned char)*c < ' ' || *c == 0x7f)
				*c = ' ';
		s->lines = mem_realloc(s->lines, s->nr + 1, sizeof(*s->lines));
		s->lines[s->nr++] = mem_strdup(line);
	}
	free(line);
	fclose(file);
	s->counts = mem_zalloc(s->nr + 1, sizeof(*s->counts));
	return true;
}

static void count_lines(struct source *s, const struct tui *t, const char *path)
{
	for (size_t i = 0; i < t->lines.room; i++) {
		const struct tally_entry *e = &t->lines.slots[i];

		if (e->key.a && e->key.a_addr && e->key.a_addr <= s->nr &&
		    !strcmp(e->key.b, path))
			s->counts[e->key.a_addr - 1] += e->insns;
	}
}

static void draw(const struct source *s, const char *path, size_t first)
{
	erase();
	attron(A_REVERSE);
	mvprintw(0, 0, "%-*.*s", COLS, COLS, path);
	attroff(A_REVERSE);
	for (int y = 1; y < LINES - 1 && first + y - 1 < s->nr; y++) {
		size_t line = first + y - 1;

		move(y, 0);
		if (s->counts[line])
			printw("%12llu ", (unsigned long long)s->counts[line]);
		else
			printw("%12s ", "");
		printw("%5zu  %.*s", line + 1, COLS > 22 ? COLS - 22 : 0, s->lines[line]);
	}
	mvprintw(LINES - 1, 0, "instructions by line   arrows, page keys: move   q: back");
	refresh();
}

static void browse(const struct source *s, const char *path, size_t first)
{
	for (;;) {
		size_t page = LINES > 3 ? LINES - 3 : 1;

		draw(s, path, first);
		switch (getch()) {
		case KEY_UP:
			first -= first > 0;
			break;
		case KEY_DOWN:
			first += first + 1 < s->nr;
			break;
		case KEY_PPAGE:
			first = first > page ? first - page : 0;
			break;
		case KEY_NPAGE:
			if (first + page < s->nr)
				first += page;
			break;
		case 'q':
		case 27:
		case ERR:
			return;
		}
	}
}

/* Find where the source of the function begins. Return false if this is unknown. */
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
	struct source s = {};
	unsigned int line;
	const char *path;

	if (!find_source(sym, &path, &line) || !read_source(&s, path)) {
		mvprintw(LINES - 1, 0, "%s: no source  ", sym->name);
		clrtoeol();
		refresh();
		getch();
		return;
	}
	count_lines(&s, t, path);
	browse(&s, path, line > 4 ? line - 4 : 0);
	for (size_t i = 0; i < s.nr; i++)
		free(s.lines[i]);
	free(s.lines);
	free(s.counts);
}
