// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read source files.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mem.h"
#include "path.h"
#include "source.h"

bool source_read(struct source *s, const char *path)
{
	struct stat st;
	int fd = path_open(path, 0, &st);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	char *line = NULL;
	size_t room = 0;

	*s = (struct source) {};
	if (!file) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	while (getline(&line, &room, file) >= 0) {
		line[strcspn(line, "\r\n")] = 0;
		for (char *c = line; *c; c++)
			if (((unsigned char)*c < ' ' && *c != '\t') || *c == 0x7f)
				*c = ' ';
		s->lines = mem_realloc(s->lines, s->nr + 1, sizeof(*s->lines));
		s->lines[s->nr++] = mem_strdup(line);
	}
	free(line);
	fclose(file);
	return true;
}

void source_free(struct source *s)
{
	for (size_t i = 0; i < s->nr; i++)
		free(s->lines[i]);
	free(s->lines);
	free(s->path);
}

static bool is_source_name(const char *path)
{
	static const char *const endings[] = {
		"c", "h", "cc", "hh", "cpp", "hpp", "cxx", "hxx", "inc", "inl", "tcc", "ipp", "s",
		"S", "asm", "rs", "go", "y", "l", "m", "d", "zig", "pas", "adb", "f", "f90", "def",
	};
	const char *name = strrchr(path, '/');
	const char *dot = strrchr(name ? name : path, '.');

	/* Accept headers of the C++ library, which have no extension. */
	if (!dot)
		return strstr(path, "/include/c++/");
	for (size_t i = 0; i < ARRAY_SIZE(endings); i++)
		if (!strcmp(dot + 1, endings[i]))
			return true;
	return false;
}

static const struct source *find(struct sources *all, const char *path)
{
	struct source s = {};

	for (size_t i = 0; i < all->nr; i++)
		if (!strcmp(all->list[i].path, path))
			return &all->list[i];
	if (is_source_name(path))
		source_read(&s, path);
	s.path = mem_strdup(path);
	all->list = mem_realloc(all->list, all->nr + 1, sizeof(*all->list));
	all->list[all->nr] = s;
	return &all->list[all->nr++];
}

const char *sources_line(struct sources *all, const char *path, unsigned int line)
{
	const struct source *s = find(all, path);

	return line && line <= s->nr ? s->lines[line - 1] : NULL;
}

void sources_free(struct sources *all)
{
	for (size_t i = 0; i < all->nr; i++)
		source_free(&all->list[i]);
	free(all->list);
}
