// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write a page with the branches that distinguish failing runs from passing runs. The user can
 * unfold each branch to see the source lines around it.
 */
#include <stdlib.h>

#include "lib/html.h"
#include "lib/text.h"
#include "page.h"

static void put_branch(struct page *p, const struct suspects *s, const struct suspect *x, bool open)
{
	char *text = suspect_text(s, x);

	fprintf(p->out, "<tr%s><td>%.3f</td><td>%u</td><td>%u</td><td>",
		x->runs[0] ? "" : " class=\"only\"", x->score, x->runs[0], x->runs[1]);
	fprintf(p->out, "<details%s><summary>", open ? " open=\"\"" : "");
	html_text(p->out, text);
	free(text);
	fputs("</summary>\n", p->out);
	rows_around(p, &x->from);
	fputs("</details></td></tr>\n", p->out);
}

void suspects_page(const struct suspects *s, unsigned long rows, FILE *out)
{
	size_t nr = rows && rows < s->nr_ranked ? rows : s->nr_ranked;
	struct page p = { .out = out, .forest = &s->forest };

	page_begin(&p, "bts diff --against");
	fprintf(out, "<p>%zu run%s passed, %zu failed</p>\n", s->nr_paths[0],
		text_plural(s->nr_paths[0], "s"), s->nr_paths[1]);
	fputs("<table><tr><th>score</th><th>passed</th><th>failed</th><th>branch</th></tr>\n",
	      out);
	/* Unfold the first branches. */
	for (size_t i = 0; i < nr; i++)
		put_branch(&p, s, &s->ranked[i], i < 3);
	fputs("</table>\n", out);
	if (nr < s->nr_ranked)
		fprintf(out, "<footer>%zu more branch%s</footer>\n", s->nr_ranked - nr,
			text_plural(s->nr_ranked - nr, "es"));
	page_end(&p);
}
