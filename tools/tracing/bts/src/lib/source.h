/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Read source files.
 *
 * Included by: lib/, diff/, tui/.
 */
#ifndef BTS_SOURCE_H
#define BTS_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

/**
 * struct source - a source file
 * @path:	its path
 * @lines:	its lines, with tabs, but without other control characters
 */
struct source {
	char	*path;
	char	**lines;
	size_t	nr;
};

/* Several source files, each of which is read once. */
struct sources {
	struct source	*list;
	size_t		nr;
};

/* Return false if the file is not a regular file, or cannot be read. */
bool source_read(struct source *s, const char *path);
void source_free(struct source *s);

/*
 * Return a line, from 1, or NULL. Only the lines of files that are named like source files are
 * returned, because the names come from a program's debug information, which is untrusted, and the
 * output may be shown to other people.
 */
const char *sources_line(struct sources *all, const char *path, unsigned int line);
void sources_free(struct sources *all);

#endif
