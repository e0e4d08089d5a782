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
 * @path:	the path of the file
 * @lines:	the file's lines, in which control characters except tabs are replaced with spaces
 */
struct source {
	char	*path;
	char	**lines;
	size_t	nr;
};

/* A cache of source files. Each file is read only once. */
struct sources {
	struct source	*list;
	size_t		nr;
};

/* Return false if the file is not a regular file, or cannot be read. */
bool source_read(struct source *s, const char *path);
void source_free(struct source *s);

/*
 * Return a line of a source file, or NULL. Lines are numbered from 1. Read a file only if it is a
 * header of the C++ library or has the extension of a source file. Otherwise, untrusted debug
 * information could make the output reveal a secret file.
 */
const char *sources_line(struct sources *all, const char *path, unsigned int line);
void sources_free(struct sources *all);

#endif
