// SPDX-License-Identifier: GPL-2.0-only
/*
 * Show a list of functions and, for each task, a tree of calls on the terminal.
 *
 * The screen is drawn by iterating over the visible nodes. Therefore, the drawing time depends on
 * the size of the screen, not on the size of the tree.
 */
#include <limits.h>
#include <locale.h>
#include <ncurses.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "lib/msg.h"
#include "tui.h"

/* A row about a difference between runs is long, so indent the row by at most this width. */
#define MARK_INDENT	20

enum view { VIEW_CALLS, VIEW_TOP };

/**
 * struct screen - the state of the terminal
 * @runs:	one run, or two compared runs
 * @tui:	the run that is shown
 * @tree:	the tree that is shown
 * @first:	the first call on the screen
 * @cursor:	the selected call
 * @top_first:	the first function on the screen
 * @top_cursor:	the selected function
 * @difference:	mark.number (marks.h) of the difference last selected with d or D; 0 if none
 * @search:	the text of the last search
 * @message:	text in the last line until the next key is pressed
 */
struct screen {
	struct tui	*runs;
	unsigned int	nr_runs;
	struct tui	*tui;
	enum view	view;
	size_t		tree;
	uint32_t	first;
	uint32_t	cursor;
	size_t		top_first;
	size_t		top_cursor;
	uint32_t	difference;
	char		search[64];
	char		message[128];
};

static const char help[] =
	"q quit  Enter fold  e/c all  / search  n next  l loss  Tab task  t top  r calls  s source";
static const char help_differences[] = "d/D difference  x other run  ";

static struct tree *tree(struct screen *s)
{
	return s->tui->nr_trees ? &s->tui->trees[s->tree] : NULL;
}

static int rows(void)
{
	return LINES > 3 ? LINES - 2 : 1;
}

static void title(const char *text)
{
	attron(A_REVERSE);
	mvprintw(0, 0, "%-*.*s", COLS, COLS, text);
	attroff(A_REVERSE);
}

static void draw_node(const struct tree *t, uint32_t node, int y, bool chosen)
{
	static const char *const marks[] = {
		[FRAME_SYSCALL] = " (system call)", [FRAME_INTERRUPT] = " (interrupt)",
		[FRAME_SIGNAL] = " (signal)", [FRAME_TAIL] = " (jump)",
		[FRAME_GUESS] = " (after a gap)", [FRAME_ROOT] = "", [FRAME_CALL] = "",
		[FRAME_INLINED] = "",
	};
	const struct tree_node *n = &t->nodes[node];
	uint32_t indent = 2 * n->depth, most = n->mark ? MARK_INDENT : 100;
	char line[512];

	if (indent > most)
		indent = most;
	if (n->sym)
		snprintf(line, sizeof(line), "%14llu %10llu  %*s%c %s%s",
			 (unsigned long long)n->insns, (unsigned long long)n->branches,
			 (int)indent, "",
			 n->next == node + 1 ? ' ' : n->folded ? '+' : '-', n->sym->name,
			 marks[n->kind]);
	else
		snprintf(line, sizeof(line), "%14s %10s  %*s  # %s", "", "", (int)indent, "",
			 n->text);
	if (chosen)
		attron(A_REVERSE);
	if (n->loss || n->mark)
		attron(A_BOLD);
	mvprintw(y, 0, "%-*.*s", COLS, COLS, line);
	attroff(A_REVERSE | A_BOLD);
}

static void draw_calls(struct screen *s)
{
	struct tree *t = tree(s);
	char text[256], stack[32] = "", run[8] = "";
	uint32_t node;

	if (!t) {
		title("no branches");
		return;
	}
	if (t->stack)
		snprintf(stack, sizeof(stack), ", stack %u", t->stack);
	if (s->nr_runs > 1)
		snprintf(run, sizeof(run), " in %c", "AB"[s->tui - s->runs]);
	snprintf(text, sizeof(text), "%14s %10s  calls of %s-%d%s%s%s", "instructions",
		 "branches", t->task->comm, t->task->pid, run, stack,
		 t->full ? " (the beginning only)" : "");
	title(text);
	node = t->nr ? s->first : NODE_NONE;
	for (int y = 1; y <= rows() && node != NODE_NONE; y++) {
		draw_node(t, node, y, node == s->cursor);
		node = tree_after(t, node);
	}
}

static void draw_top(struct screen *s)
{
	struct tui *t = s->tui;
	char text[512];

	snprintf(text, sizeof(text), "%14s %10s %10s  function", "instructions", "branches",
		 "calls");
	title(text);
	for (int y = 1; y <= rows() && s->top_first + y - 1 < t->nr_functions; y++) {
		const struct tally_entry *e = &t->functions[s->top_first + y - 1];
		const struct sym *sym = e->key.a;

		snprintf(text, sizeof(text), "%14llu %10llu %10llu  %s  (%s)",
			 (unsigned long long)e->insns, (unsigned long long)e->branches,
			 (unsigned long long)e->calls, sym->name, sym->object->name);
		if (s->top_first + y - 1 == s->top_cursor)
			attron(A_REVERSE);
		mvprintw(y, 0, "%-*.*s", COLS, COLS, text);
		attroff(A_REVERSE);
	}
}

static void draw(struct screen *s)
{
	erase();
	if (s->view == VIEW_CALLS)
		draw_calls(s);
	else
		draw_top(s);
	if (!*s->message)
		snprintf(s->message, sizeof(s->message), "%s%s",
			 s->nr_runs > 1 ? help_differences : "", help);
	mvprintw(LINES - 1, 0, "%.*s", COLS - 1, s->message);
	*s->message = 0;
	refresh();
}

/* Scroll so that the cursor is in the middle of the screen. */
static void centre(struct screen *s)
{
	uint32_t node = s->cursor;

	for (int y = 0; y < rows() / 2; y++) {
		uint32_t before = tree_before(tree(s), node);

		if (before == NODE_NONE)
			break;
		node = before;
	}
	s->first = node;
}

/* Scroll so that the cursor is on the screen. */
static void follow_cursor(struct screen *s)
{
	uint32_t node = s->first;

	if (s->cursor >= s->first)
		for (int y = 0; y < rows() && node != NODE_NONE; y++) {
			if (node == s->cursor)
				return;
			node = tree_after(tree(s), node);
		}
	centre(s);
}

static void move_calls(struct screen *s, int by)
{
	struct tree *t = tree(s);

	for (; by; by += by < 0 ? 1 : -1) {
		uint32_t node = by < 0 ? tree_before(t, s->cursor) : tree_after(t, s->cursor);

		if (node == NODE_NONE)
			break;
		s->cursor = node;
	}
}

static void move_top(struct screen *s, int by)
{
	size_t nr = s->tui->nr_functions;

	if (by < 0)
		s->top_cursor = s->top_cursor > (size_t)-by ? s->top_cursor + by : 0;
	else if (nr)
		s->top_cursor = s->top_cursor + by < nr ? s->top_cursor + by : nr - 1;
	if (s->top_cursor < s->top_first)
		s->top_first = s->top_cursor;
	if (s->top_cursor >= s->top_first + rows())
		s->top_first = s->top_cursor - rows() + 1;
}

static void move_by(struct screen *s, int by)
{
	if (s->view == VIEW_TOP)
		move_top(s, by);
	else if (tree(s) && tree(s)->nr)
		move_calls(s, by);
}

/* Move to the root without move_calls(), which visits each node and is slow in a large tree. */
static void go_home(struct screen *s)
{
	if (s->view == VIEW_TOP) {
		move_by(s, -INT_MAX);
		return;
	}
	s->first = 0;
	s->cursor = 0;
}

static void jump(struct screen *s, const char *text)
{
	struct tree *t = tree(s);
	uint32_t node = t && t->nr ? tree_search(t, s->cursor, text) : NODE_NONE;

	if (node == NODE_NONE) {
		snprintf(s->message, sizeof(s->message), "%s: not found", text ? text : "loss");
		return;
	}
	tree_show(t, node);
	s->cursor = node;
	s->view = VIEW_CALLS;
	centre(s);
}

/* Show node @node of tree number @tree_nr. */
static void go_to(struct screen *s, size_t tree_nr, uint32_t node)
{
	s->tree = tree_nr;
	s->cursor = node;
	s->view = VIEW_CALLS;
	tree_show(tree(s), node);
	centre(s);
}

/* Move the cursor to the next or the previous difference, which may be in another tree. */
static void jump_difference(struct screen *s, bool back)
{
	size_t nr = s->tui->nr_trees, i = s->tree;
	uint32_t from = s->cursor;

	for (size_t tries = 0; tries <= nr && nr; tries++) {
		uint32_t node = tree_difference(&s->tui->trees[i], from, back);

		if (node != NODE_NONE) {
			s->difference = s->tui->trees[i].nodes[node].difference;
			go_to(s, i, node);
			return;
		}
		i = back ? (i ? i : nr) - 1 : (i + 1) % nr;
		from = back ? s->tui->trees[i].nr : NODE_NONE;
	}
	snprintf(s->message, sizeof(s->message), "%s", s->nr_runs > 1 ? "no difference" :
		 "no other trace: bts tui A B compares two traces");
}

/* Show the other run. Put the cursor on the difference that the user last selected with d or D. */
static void other_run(struct screen *s)
{
	if (s->nr_runs < 2)
		return;
	s->tui = s->tui == s->runs ? s->runs + 1 : s->runs;
	s->tree = 0;
	s->first = 0;
	s->cursor = 0;
	s->top_first = 0;
	s->top_cursor = 0;
	for (size_t i = 0; s->difference && i < s->tui->nr_trees; i++) {
		uint32_t node = NODE_NONE;

		while ((node = tree_difference(&s->tui->trees[i], node, false)) != NODE_NONE) {
			if (s->tui->trees[i].nodes[node].difference == s->difference) {
				go_to(s, i, node);
				return;
			}
		}
	}
}

static void ask_search(struct screen *s)
{
	move(LINES - 1, 0);
	clrtoeol();
	addch('/');
	echo();
	if (getnstr(s->search, sizeof(s->search) - 1) == ERR)
		*s->search = 0;
	noecho();
	if (*s->search)
		jump(s, s->search);
}

static void fold_all(struct screen *s, bool folded)
{
	struct tree *t = tree(s);

	for (uint32_t i = 0; t && i < t->nr; i++)
		t->nodes[i].folded = folded && t->nodes[i].depth;
	if (t && t->nr && folded)
		while (t->nodes[s->cursor].parent != NODE_NONE &&
		       t->nodes[t->nodes[s->cursor].parent].folded)
			s->cursor = t->nodes[s->cursor].parent;
}

static struct sym *chosen(struct screen *s)
{
	struct tree *t = tree(s);

	if (s->view == VIEW_TOP)
		return s->tui->nr_functions ?
		       (struct sym *)s->tui->functions[s->top_cursor].key.a : NULL;
	return t && t->nr ? t->nodes[s->cursor].sym : NULL;
}

static void enter_key(struct screen *s)
{
	struct tree *t = tree(s);

	if (s->view == VIEW_TOP && chosen(s))
		tui_source(s->tui, chosen(s));
	else if (s->view == VIEW_CALLS && t && t->nr)
		t->nodes[s->cursor].folded = !t->nodes[s->cursor].folded;
}

/* Fold or unfold the selected call. If there is nothing to fold, select the enclosing call. */
static void fold_call(struct screen *s, bool folded)
{
	struct tree *t = tree(s);
	struct tree_node *n = t && t->nr ? &t->nodes[s->cursor] : NULL;
	bool leaf = n && n->next == s->cursor + 1;

	if (s->view != VIEW_CALLS || !n)
		return;
	if (folded && (leaf || n->folded) && n->parent != NODE_NONE)
		s->cursor = n->parent;
	else
		n->folded = folded && !leaf;
}

static void next_task(struct screen *s)
{
	if (!s->tui->nr_trees)
		return;
	s->tree = (s->tree + 1) % s->tui->nr_trees;
	s->first = 0;
	s->cursor = 0;
}

/* Handle a key that moves the cursor. Return false for any other key. */
static bool move_key(struct screen *s, int key)
{
	switch (key) {
	case KEY_UP:
	case 'k':
		move_by(s, -1);
		return true;
	case KEY_DOWN:
	case 'j':
		move_by(s, 1);
		return true;
	case KEY_PPAGE:
		move_by(s, -rows());
		return true;
	case KEY_NPAGE:
		move_by(s, rows());
		return true;
	case KEY_HOME:
		go_home(s);
		return true;
	case KEY_END:
		move_by(s, INT_MAX);
		return true;
	case KEY_LEFT:
	case KEY_RIGHT:
		fold_call(s, key == KEY_LEFT);
		return true;
	}
	return false;
}

static void other_key(struct screen *s, int key)
{
	switch (key) {
	case '\n':
	case KEY_ENTER:
		enter_key(s);
		break;
	case '\t':
		next_task(s);
		break;
	case 'e':
	case 'c':
		fold_all(s, key == 'c');
		break;
	case '/':
		ask_search(s);
		break;
	case 'n':
		if (*s->search)
			jump(s, s->search);
		break;
	case 'l':
		jump(s, NULL);
		break;
	case 'd':
	case 'D':
		jump_difference(s, key == 'D');
		break;
	case 'x':
		other_run(s);
		break;
	case 't':
	case 'r':
		s->view = key == 't' ? VIEW_TOP : VIEW_CALLS;
		break;
	case 's':
		if (chosen(s))
			tui_source(s->tui, chosen(s));
		break;
	}
}

/* Handle a key. Return false if the user quits. */
static bool key_pressed(struct screen *s, int key)
{
	if (key == 'q' || key == ERR)
		return false;
	if (!move_key(s, key))
		other_key(s, key);
	return true;
}

/* Restore the terminal at every exit. */
static void close_screen(void)
{
	if (stdscr && !isendwin())
		endwin();
}

int tui_screen(struct tui *runs, unsigned int nr_runs)
{
	struct screen s = { .runs = runs, .nr_runs = nr_runs, .tui = runs };
	SCREEN *terminal;

	setlocale(LC_ALL, "");
	atexit(close_screen);
	/* ncurses handles SIGINT and SIGTERM, but not SIGQUIT. */
	signal(SIGQUIT, SIG_IGN);
	terminal = newterm(NULL, stdout, stdin);
	if (!terminal)
		return msg_error("open the terminal", getenv("TERM"), "unknown type of terminal");
	cbreak();
	noecho();
	keypad(stdscr, true);
	curs_set(0);
	do {
		if (tree(&s) && tree(&s)->nr)
			follow_cursor(&s);
		draw(&s);
	} while (key_pressed(&s, getch()));
	endwin();
	delscreen(terminal);
	return STATUS_OK;
}
