// SPDX-License-Identifier: GPL-2.0-only
/*
 * Run commands of the tool. Each command runs in a fork of this process, because a program with a
 * sanitizer starts slowly. Each line of stdin contains these words, separated by tabs:
 *
 *	STDOUT STDERR COMMAND ARGUMENT...
 *
 * The command's output goes to the file STDOUT, and its error messages go to the file STDERR. After
 * each command, this process prints a line with the command's status, in the format of waitpid().
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ARGUMENTS	64
#define SECONDS		120	/* after this time, SIGALRM kills the command */

/* The tool's main(), which the build renames to tool_main(). */
int tool_main(int argc, char **argv);

static void redirect(int fd, const char *path)
{
	int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (file < 0 || dup2(file, fd) < 0)
		_exit(125);
	close(file);
}

/* Run a command. The first two words name the files for its standard output and error. */
static void run(int argc, char **argv)
{
	alarm(SECONDS);
	redirect(1, argv[0]);
	redirect(2, argv[1]);
	argv[1] = "bts";
	exit(tool_main(argc - 1, argv + 1));
}

static int split(char *line, char **words)
{
	int nr = 0;

	line[strcspn(line, "\n")] = 0;
	for (char *word; nr < ARGUMENTS && (word = strsep(&line, "\t"));)
		words[nr++] = word;
	words[nr] = NULL;
	return nr;
}

int main(void)
{
	char *words[ARGUMENTS + 1], *line = NULL;
	size_t room = 0;
	int nr, status;
	pid_t pid;

	while (getline(&line, &room, stdin) > 0) {
		nr = split(line, words);
		if (nr < 3)
			return 2;
		fflush(stdout);
		pid = fork();
		if (!pid)
			run(nr, words);
		if (pid < 0 || waitpid(pid, &status, 0) != pid)
			return 1;
		printf("%d\n", status);
		fflush(stdout);
	}
	free(line);
	return 0;
}
