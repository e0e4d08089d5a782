// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write an HTML page that shows two runs side by side. The page is a single file without scripts.
 *
 * For each pair of tasks, the page contains a table of the differences, and then one call tree for
 * both runs (beside.h). Calls with differences are unfolded, and all other calls are folded with
 * <details>, which needs no script. The page's security policy forbids scripts and access to the
 * network. So a malicious name in a trace would be harmless even if it were not escaped.
 *
 * The page is also well-formed XML, so that tests can parse it.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/html.h"
#include "lib/mem.h"
#include "lib/text.h"
#include "page.h"

/* The maximum number of code lines to show from each run for a difference. */
#define SIDE_ROWS	300
/* The maximum number of code lines at the beginning and at the end of a stretch (beside.h). */
#define STRETCH_ROWS	60
/* The maximum number of call levels that can be unfolded within a difference. */
#define SIDE_DEPTH	3
/* The maximum nesting depth of HTML elements for calls and loops; browsers limit the depth. */
#define NESTED_MAX	48
/* Indent calls and loops beyond this depth only slightly. */
#define INDENTED_MAX	16
/* The maximum number of called functions in the summary of a stretch (beside.h). */
#define CALLS_MAX	6
/* The maximum length of the name of a called function. */
#define CALLED_MAX	60

static const char style[] =
	":root{--bg:#fff;--fg:#1c1f23;--dim:#6a737d;--line:#e3e6ea;--soft:#f6f7f9;"
	"--a:#e3effd;--af:#0550ae;--b:#fff2d9;--bf:#8a5300;--at:#ffd75e}\n"
	"@media(prefers-color-scheme:dark){:root{--bg:#16181c;--fg:#d8dce2;--dim:#8b949e;"
	"--line:#30353d;--soft:#1e2127;--a:#16263b;--af:#79b8ff;--b:#33270f;--bf:#f0b849;"
	"--at:#6b5200}}\n"
	"*{box-sizing:border-box}\n"
	"body{margin:0 auto;padding:16px 24px;max-width:1500px;background:var(--bg);color:var(--fg);"
	"font:13px/1.45 ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace}\n"
	"h1{font-size:17px;margin:0 0 4px}h2{font-size:15px;margin:28px 0 8px}\n"
	"a{color:inherit;text-decoration:none}a:hover{text-decoration:underline}\n"
	"s{color:var(--dim);text-decoration:none}u{color:var(--dim);text-decoration:none}\n"
	"table{border-collapse:collapse;width:100%}.two{table-layout:fixed}\n"
	".two th:first-child{width:36px}.two th:nth-child(2){width:36%}\n"
	"th,td{text-align:left;vertical-align:top;padding:3px 10px 3px 0;"
	"border-bottom:1px solid var(--line);overflow-wrap:anywhere}\n"
	"th{color:var(--dim);font-weight:400}td:first-child,th:first-child{text-align:right}\n"
	".ka{color:var(--af)}.kb{color:var(--bf)}\n"
	"details>summary{cursor:pointer;white-space:pre-wrap}\n"
	".pair{border-left:1px solid var(--line);padding-left:9px;margin-left:3px}\n"
	".pair>summary{margin-left:-9px}.pair>summary b{font-weight:600}\n"
	".deep{padding-left:0}.deep>summary{margin-left:0}\n"
	".same{color:var(--dim)}.same>summary{padding:1px 0}\n"
	".same>.box{border-left:2px solid var(--line);margin:2px 0 4px 4px}\n"
	".l{white-space:pre-wrap;tab-size:4;padding-left:52px;text-indent:-52px;"
	"overflow-wrap:anywhere}\n"
	".l i{display:inline-block;width:40px;margin-right:12px;text-align:right;"
	"text-indent:0;color:var(--dim);font-style:normal;user-select:none}\n"
	".c{padding-left:52px;text-indent:0}.c>.c,.c>.l{margin-left:-28px}.l.c i{display:none}\n"
	".at{background:var(--at)}\n"
	".diff{border:1px solid var(--line);border-radius:6px;margin:8px 0;overflow:hidden}\n"
	".diff:target{outline:2px solid var(--at)}\n"
	".diff>h3{font-size:13px;margin:0;padding:4px 10px;background:var(--soft);"
	"border-bottom:1px solid var(--line)}\n"
	".diff>h3 nav{float:right;font-weight:400}nav a,td>a{color:var(--af)}\n"
	".ab{display:grid;grid-template-columns:1fr 1fr}\n"
	".ab>div{min-width:0;padding-bottom:4px}.ab>.a{background:var(--a)}"
	".ab>.b{background:var(--b);border-left:1px solid var(--line)}\n"
	".ab p{margin:0;padding:3px 10px}.ab>.a>p{color:var(--af)}.ab>.b>p{color:var(--bf)}\n"
	".diff>p{margin:0;padding:3px 10px;background:var(--soft);color:var(--dim);"
	"border-top:1px solid var(--line)}\n"
	"footer{margin-top:28px;color:var(--dim);white-space:pre-wrap}\n";

void page_begin(struct page *p, const char *title)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	      "style-src 'unsafe-inline'\"/>\n"
	      "<meta name=\"viewport\" content=\"width=device-width\"/>\n"
	      "<meta name=\"generator\" content=\"bts " VERSION "\"/>\n<title>", p->out);
	html_text(p->out, title);
	fprintf(p->out, "</title>\n<style>\n%s</style></head>\n<body>\n<h1>", style);
	html_text(p->out, title);
	fputs("</h1>\n", p->out);
}

void page_end(struct page *p)
{
	fputs("</body></html>\n", p->out);
	sources_free(&p->sources);
}

static void text_element(struct page *p, const char *begin, const char *text, const char *end)
{
	fputs(begin, p->out);
	html_text(p->out, text);
	fputs(end, p->out);
}

/**
 * struct page_task - a pair of tasks on the page
 * @nr:		the number of the pair
 * @rows:	number of differences that are shown
 * @open:	the nodes of run A that have begun, but not ended
 * @functions:	the functions of the calls in @open
 */
struct page_task {
	struct page		*p;
	const struct comparison	*c;
	const struct compared	*task;
	size_t			nr;
	size_t			rows;
	uint32_t		*open;
	size_t			nr_open;
	size_t			open_room;
	uint32_t		*functions;
	size_t			nr_functions;
	size_t			functions_room;
};

static void put_row(struct page_task *t, size_t nr)
{
	const struct difference *d = &t->task->differences.list[nr];
	FILE *out = t->p->out;
	char text[4096];

	fprintf(out, "<tr><td><a href=\"#t%zud%zu\">%zu</a></td><td>", t->nr, nr + 1, nr + 1);
	difference_text(text, sizeof(text), d);
	html_text(out, text);
	for (unsigned int side = 0; side < 2; side++) {
		fprintf(out, "</td><td class=\"k%c\">", "ab"[side]);
		side_text(text, sizeof(text), t->c, d, side);
		html_text(out, text);
	}
	fputs("</td></tr>\n", out);
}

static void put_table(struct page_task *t)
{
	if (!t->rows)
		return;
	fputs("<table class=\"two\"><tr><th>#</th><th>where the runs differ</th>"
	      "<th class=\"ka\">A</th><th class=\"kb\">B</th></tr>\n", t->p->out);
	for (size_t i = 0; i < t->rows; i++)
		put_row(t, i);
	fputs("</table>\n", t->p->out);
}

/* Return the straight run that A and B both executed up to the difference, or NULL. */
static const struct token *common_run(const struct page *p, const struct part *part,
				      const struct difference *d)
{
	const struct token *t[2];

	for (unsigned int side = 0; side < 2; side++) {
		if (part->side[side].first == NONE)
			return NULL;
		t[side] = token_of(p->forest, part->side[side].first);
	}
	if (t[0]->objects[0] != t[1]->objects[0] || t[0]->start.addr != t[1]->start.addr ||
	    d->place.addr < t[0]->start.addr || d->place.addr > t[0]->from.addr ||
	    d->place.addr > t[1]->from.addr || part->more)
		return NULL;
	return t[0];
}

/* Return the address of the instruction after the branch that differs. */
static struct place after_place(const struct difference *d)
{
	enum branch_kind kind;
	struct place after = d->place;

	after.addr += branch_kind_at(d->place.sym->object, d->place.addr, &kind);
	return after;
}

/*
 * If A and B meet again inside a straight run of @side, write the code up to this place. Begin at
 * @begin or, if @begin is NULL, at the start of the straight run.
 */
static void put_last_run(struct page_task *t, struct rows *r, const struct part *part,
			 unsigned int side, const struct place *begin)
{
	const struct token *mine, *other;

	if (!part->meets)
		return;
	mine = token_of(t->p->forest, part->side[side].next);
	other = token_of(t->p->forest, part->side[!side].next);
	if (mine->objects[0] == other->objects[0] && mine->start.addr < other->start.addr)
		rows_run(r, begin ? begin : &mine->start, other->start.addr, false);
}

/*
 * Write the code that run @side executed at the difference @d. If @common is set, omit the code up
 * to the branch that differs, because both runs executed this code.
 */
static void put_side(struct page_task *t, const struct part *part, const struct difference *d,
		     unsigned int side, bool common)
{
	const struct apart *a = &part->side[side];
	struct rows r = rows_begin(t->p, d->function, SIDE_DEPTH);
	struct place after = common ? after_place(d) : d->place;
	size_t i = 0;

	t->p->left = SIDE_ROWS;
	if (common && a->nr && a->items[0].elem == a->first) {
		const struct token *first = token_of(t->p->forest, a->first);

		if (after.addr <= first->from.addr)
			rows_run(&r, &after, first->from.addr, true);
		i++;
	}
	for (; i < a->nr; i++)
		rows_item(&r, a->items[i].elem, a->items[i].count);
	put_last_run(t, &r, part, side, common && a->next == a->first ? &after : NULL);
	rows_end(&r);
}

static void put_title(struct page_task *t, const struct part *part, const struct difference *d)
{
	uint32_t nr = part->difference;
	FILE *out = t->p->out;
	char text[4096];

	if (part->more) {
		fprintf(out, "<section class=\"diff\"><h3>%u continues: ", nr + 1);
	} else {
		fprintf(out, "<section class=\"diff\" id=\"t%zud%u\"><h3><nav>", t->nr, nr + 1);
		if (nr)
			fprintf(out, "<a href=\"#t%zud%u\">previous</a> ", t->nr, nr);
		if (nr + 1 < t->rows)
			fprintf(out, "<a href=\"#t%zud%u\">next</a>", t->nr, nr + 2);
		fprintf(out, "</nav>%u ", nr + 1);
	}
	difference_text(text, sizeof(text), d);
	text_element(t->p, "<span>", text, "</span></h3>\n");
}

static void put_difference(struct page_task *t, const struct part *part)
{
	const struct difference *d = &t->task->differences.list[part->difference];
	const struct token *common = common_run(t->p, part, d);
	FILE *out = t->p->out;
	const char *file;
	char text[4096];
	struct rows r;

	put_title(t, part, d);
	if (common) {
		t->p->left = SIDE_ROWS;
		r = rows_begin(t->p, d->function, 0);
		object_line(d->place.sym->object, d->place.addr, &file, &r.mark);
		rows_run(&r, &common->start, d->place.addr, true);
		rows_end(&r);
	}
	fputs("<div class=\"ab\">", out);
	for (unsigned int side = 0; side < 2; side++) {
		fprintf(out, "<div class=\"%c\"><p>%c ", "ab"[side], "AB"[side]);
		side_text(text, sizeof(text), t->c, d, side);
		text_element(t->p, "", part->more ? "" : text, "</p>\n");
		put_side(t, part, d, side, common);
		fputs("</div>\n", out);
	}
	fputs("</div>\n", out);
	meet_text(text, sizeof(text), d);
	if (part->meets || !d->meets)
		text_element(t->p, "<p>", text, "</p>\n");
	fputs("</section>\n", out);
}

static void put_again(struct page_task *t, const struct stretch *s)
{
	FILE *out = t->p->out;
	size_t others = 0;

	fputs("; again", out);
	for (size_t i = 0; i < s->nr_again; i++) {
		if (s->again[i].difference >= t->rows) {
			others++;
			continue;
		}
		fprintf(out, "%s difference <a href=\"#t%zud%u\">%u</a>", i - others ? "," : "",
			t->nr, s->again[i].difference + 1, s->again[i].difference + 1);
		if (s->again[i].times > 1)
			fprintf(out, " × %s", text_commas(s->again[i].times));
	}
	if (others)
		fprintf(out, "%s %zu differences that are not shown",
			others < s->nr_again ? "," : "", others);
}

static void put_sums(struct page *p, uint64_t a, uint64_t b)
{
	fprintf(p->out, "%s instruction%s", text_commas(a), a == 1 ? "" : "s");
	if (a != b)
		fprintf(p->out, " in A, %s in B", text_commas(b));
}

static void put_called(struct page *p, const struct called *called, unsigned int nr)
{
	char name[CALLED_MAX + 1];

	for (unsigned int i = 0; i < nr; i++) {
		function_text(name, sizeof(name), &p->forest->functions[called[i].function]);
		/* Cut a long name, such as the name of a C++ function. */
		if (strlen(name) == CALLED_MAX)
			memcpy(name + CALLED_MAX - 3, "...", 4);
		fputs(i ? ", " : "; calls ", p->out);
		html_text(p->out, name);
		if (called[i].times > 1)
			fprintf(p->out, " × %s", text_commas(called[i].times));
	}
}

/* Write the names of the functions that are called at the beginning of the stretch @s. */
static void put_calls(struct page *p, const struct stretch *s)
{
	struct called called[CALLS_MAX];
	unsigned int nr = 0, at;

	for (uint64_t i = 0; i < s->nr && i < STRETCH_ENDS; i++) {
		const struct stretch_item *item = &s->first[i];
		const struct node *n = is_node(item->elem) ? node_of(p->forest, item->elem) : NULL;

		if (!n || n->type != NODE_CALL)
			continue;
		for (at = 0; at < nr && called[at].function != n->key; )
			at++;
		if (at == CALLS_MAX)
			break;
		if (at == nr)
			called[nr++] = (struct called) { n->key, 0 };
		called[at].times += item->times;
	}
	put_called(p, called, nr);
	if (nr && s->nr > STRETCH_ENDS)
		fputs(", ...", p->out);
}

static void put_stretch(struct page_task *t, const struct stretch *s)
{
	uint32_t function = t->nr_functions ? t->functions[t->nr_functions - 1] : NONE;
	struct rows r = rows_begin(t->p, function, 0);
	const struct stretch_item *item;
	FILE *out = t->p->out;
	uint64_t i = 0;

	if (!s->insns[0] && !s->insns[1])
		return;
	fprintf(out, "<details class=\"same\"><summary>%s: ", s->nr_again ? "similar" : "equal");
	put_sums(t->p, s->insns[0], s->insns[1]);
	put_calls(t->p, s);
	if (s->nr_again)
		put_again(t, s);
	fputs("</summary><div class=\"box\">\n", out);
	t->p->left = STRETCH_ROWS;
	for (; i < s->nr && i < STRETCH_ENDS; i++)
		rows_item(&r, s->first[i].elem, s->first[i].times);
	rows_end(&r);
	while (i < s->nr && !stretch_item(s, i))
		i++;
	if (s->nr > 2 * STRETCH_ENDS)
		fprintf(out, "<div class=\"l\"><i></i><s>%s more calls, loops and branches</s>"
			"</div>\n",
			text_commas(s->nr - 2 * STRETCH_ENDS));
	t->p->left = STRETCH_ROWS;
	for (; i < s->nr && (item = stretch_item(s, i)); i++)
		rows_item(&r, item->elem, item->times);
	rows_end(&r);
	fputs("</div></details>\n", out);
}

static void put_function(struct page_task *t, uint32_t function)
{
	const struct function *fn = &t->c->forest.functions[function];
	struct place place = { fn->sym, fn->addr };
	char text[1024];

	function_text(text, sizeof(text), fn);
	text_element(t->p, "<b>", text, "</b> <s>");
	line_text(text, sizeof(text), &place);
	text_element(t->p, "", text, "");
}

static uint32_t *push(uint32_t *list, size_t *nr, size_t *room, uint32_t value)
{
	if (*nr == *room) {
		*room = 2 * *room + 64;
		list = mem_realloc(list, *room, sizeof(*list));
	}
	list[(*nr)++] = value;
	return list;
}

static void put_head(struct page_task *t, const struct part *part)
{
	const struct forest *f = t->p->forest;
	const struct node *n = node_of(f, part->nodes[0]);
	FILE *out = t->p->out;

	if (n->type == NODE_CALL)
		put_function(t, n->key);
	else if (n->type == NODE_LOOP)
		fprintf(out, "loop <s> %s times in A, %s in B",
			text_commas(loop_times(f, part->nodes[0])),
			text_commas(loop_times(f, part->nodes[1])));
	else
		fputs("iteration <s>", out);
	if (part->times > 1)
		fprintf(out, " × %s", text_commas(part->times));
	fputs("  ", out);
	put_sums(t->p, n->insns, node_of(f, part->nodes[1])->insns);
	fputs("</s>", out);
}

/* Write the start of a call, loop or iteration. If it is nested too deeply, it cannot be folded. */
static void put_enter(struct page_task *t, const struct part *part)
{
	const struct node *n = node_of(t->p->forest, part->nodes[0]);
	bool folds = t->nr_open < NESTED_MAX;

	t->open = push(t->open, &t->nr_open, &t->open_room, part->nodes[0]);
	if (n->type == NODE_CALL)
		t->functions = push(t->functions, &t->nr_functions, &t->functions_room, n->key);
	if (n->type == NODE_TASK)
		return;
	if (folds)
		fprintf(t->p->out, "<details class=\"pair%s\" open=\"\"><summary>",
			t->nr_open > INDENTED_MAX ? " deep" : "");
	else
		fputs("<div>", t->p->out);
	put_head(t, part);
	fputs(folds ? "</summary>\n" : "</div>\n", t->p->out);
}

static void put_leave(struct page_task *t)
{
	const struct node *n = node_of(t->p->forest, t->open[--t->nr_open]);

	if (n->type == NODE_CALL)
		t->nr_functions--;
	if (n->type != NODE_TASK && t->nr_open < NESTED_MAX)
		fputs("</details>\n", t->p->out);
}

static void put_parts(struct page_task *t)
{
	const struct beside *v = &t->task->beside;

	for (size_t i = 0; i < v->nr; i++) {
		switch (v->parts[i].type) {
		case PART_ENTER:
			put_enter(t, &v->parts[i]);
			break;
		case PART_LEAVE:
			put_leave(t);
			break;
		case PART_STRETCH:
			put_stretch(t, v->parts[i].stretch);
			break;
		case PART_DIFFERENCE:
			put_difference(t, &v->parts[i]);
			break;
		}
	}
}

static void put_task(struct page *p, const struct comparison *c, size_t nr)
{
	const struct differences *d = &c->tasks[nr].differences;
	struct page_task t = {
		.p = p, .c = c, .task = &c->tasks[nr], .nr = nr + 1,
		.rows = c->rows && c->rows < d->nr ? c->rows : d->nr,
	};
	char text[256], *notes;

	task_text(text, sizeof(text), t.task);
	text_element(p, "<h2>", text, "</h2>\n");
	put_table(&t);
	notes = task_notes(c, t.task);
	text_element(p, "<footer>", notes, "</footer>\n");
	free(notes);
	put_parts(&t);
	free(t.open);
	free(t.functions);
}

void show_page(const struct comparison *c, FILE *out)
{
	struct page p = { .out = out, .forest = &c->forest };
	char *notes;

	page_begin(&p, "bts diff");
	for (unsigned int side = 0; side < 2; side++) {
		fprintf(out, "<div class=\"k%c\">%c ", "ab"[side], "AB"[side]);
		text_element(&p, "", c->run[side].path, "</div>\n");
	}
	for (size_t i = 0; i < c->nr_tasks; i++)
		put_task(&p, c, i);
	notes = noise_text(c);
	text_element(&p, "<footer>", notes, "</footer>\n");
	free(notes);
	page_end(&p);
}
