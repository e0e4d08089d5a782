// SPDX-License-Identifier: GPL-2.0-only
/*
 * Print the options of a command, for the completion scripts of the shells. The options are parsed
 * from the command's help text:
 *
 *	  -b, --by WHAT      function (default), edge, loop, line, dso
 *	                     -> -b <tab> function|edge|loop|line|dso <tab> function (default), ...
 *	                        --by <tab> function|edge|loop|line|dso <tab> function (default), ...
 *	  -f lcov            lines, functions and branches
 *	  -f pcs             addresses
 *	                     -> -f <tab> lcov|pcs <tab>
 *
 * The second column of the output contains the kind of the option's argument (FILE, DIR, USER, PID,
 * EVENT ...), or a list of the valid values. If the option has no argument, the column is empty.
 *
 * Given a word that the user has typed, print only the kind or the values of the argument that must
 * follow the word. A word may bundle several short options:
 *
 *	-o, --output, -uo	-> FILE
 *	-u			-> nothing, because -u has no argument
 *	-ofile, --output=	-> nothing, because the word contains the argument
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "lib/msg.h"
#include "cmd.h"

/* Options whose values cannot be parsed from the help text. */
static const struct {
	const char	*option;
	const char	*values;
} known[] = {
	{ "--by",	"function|edge|loop|line|dso" },
	{ "--sort",	"instructions|branches" },
	{ "--backend",	"tracer|perf|intel_bts|vm" },
	{ "--vm-cpu",	"Nehalem|Westmere|SandyBridge|IvyBridge|Haswell|Broadwell|Skylake-Client|"
			"Skylake-Server|Icelake-Server" },
};

/* The short or the long form of an option. */
struct option_help {
	char	*name;
	char	*argument;
	char	*text;
};

struct list {
	struct option_help	*options;
	size_t			nr;
};

static void add(struct list *l, const char *name, const char *argument, const char *text)
{
	for (size_t i = 0; i < l->nr; i++) {
		struct option_help *o = &l->options[i];
		char *before = o->argument;

		if (strcmp(o->name, name))
			continue;
		/* Add @argument to the option's values, unless @argument is a placeholder. */
		if (!islower((unsigned char)*argument))
			return;
		o->argument = mem_format("%s|%s", before, argument);
		free(before);
		/* Each value has a help line. Drop the text, which is about the first value. */
		*o->text = 0;
		return;
	}
	l->options = mem_realloc(l->options, l->nr + 1, sizeof(*l->options));
	l->options[l->nr++] = (struct option_help) {
		.name = mem_strdup(name), .argument = mem_strdup(argument),
		.text = mem_strdup(text),
	};
}

static const char *known_values(const char *forms)
{
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		const char *at = strstr(forms, known[i].option);

		if (at && !at[strlen(known[i].option)])
			return known[i].values;
	}
	return NULL;
}

/*
 * Parse the forms of an option, such as "-b, --by WHAT". Ignore an argument in brackets ([=SIZE]),
 * because a shell does not complete such an argument as a separate word.
 */
static void read_forms(struct list *l, char *forms, const char *text)
{
	char *bracket = strchr(forms, '['), *argument = forms, *name;
	const char *values;

	if (bracket)
		*bracket = 0;
	while ((argument = strchr(argument, ' ')) && argument[1] == '-')
		argument++;
	if (argument)
		*argument++ = 0;
	values = known_values(forms);
	for (name = strtok(forms, ", "); name; name = strtok(NULL, ", "))
		add(l, name, !argument ? "" : values ? values : argument, text);
}

/* Parse a line of the help. Two spaces separate the forms of an option from its description. */
static void read_line(struct list *l, char *line)
{
	char *forms = line + strspn(line, " "), *end = strstr(forms, "  ");

	if (forms == line || *forms != '-')
		return;
	if (end)
		*end++ = 0;
	read_forms(l, forms, end ? end + strspn(end, " ") : "");
}

/* Return the text that the command prints with -h. The caller frees the text. */
static char *help_of(int (*run)(int argc, char **argv))
{
	char *argv[] = { "bts", "-h", NULL }, *text = NULL;
	FILE *terminal = stdout;
	size_t size;

	stdout = open_memstream(&text, &size);
	if (stdout) {
		run(2, argv);
		fclose(stdout);
	}
	stdout = terminal;
	return text;
}

static const char *argument_of(const struct list *l, const char *name)
{
	for (size_t i = 0; i < l->nr; i++)
		if (!strcmp(l->options[i].name, name))
			return l->options[i].argument;
	return "";
}

/* Return the kind of argument that must follow @word, or "" if no argument may follow. */
static const char *argument_after(const struct list *l, const char *word)
{
	char name[] = "-?";
	const char *argument = "";

	if (word[0] != '-' || word[1] == '-')
		return argument_of(l, word);
	while (!*argument && *++word) {
		name[1] = *word;
		argument = argument_of(l, name);
	}
	/* If @word continues after the letter of the option, the rest of @word is the argument. */
	return *word && word[1] ? "" : argument;
}

int complete_options(int (*run)(int argc, char **argv), const char *option)
{
	char *text = help_of(run), *next = text, *line;
	struct list l = {};

	if (!text)
		return msg_errno("read", "the help");
	while ((line = strsep(&next, "\n")))
		read_line(&l, line);
	if (option)
		puts(argument_after(&l, option));
	for (size_t i = 0; i < l.nr; i++) {
		if (!option)
			printf("%s\t%s\t%s\n", l.options[i].name, l.options[i].argument,
			       l.options[i].text);
		free(l.options[i].name);
		free(l.options[i].argument);
		free(l.options[i].text);
	}
	free(l.options);
	free(text);
	return STATUS_OK;
}
