// SPDX-License-Identifier: GPL-2.0-only
/*
 * Run commands of the tool on inputs from AFL++: fuzz FILE COMMAND [-- COMMAND]...
 *
 * Each input is written to FILE, which the commands then read. If FILE is "-", the commands read
 * the input from standard input. A single process handles many inputs. The output is written to
 * /dev/null. Without AFL++, the commands read the unchanged FILE once.
 *
 * A command may change or remove the files that it reads. So with FUZZ_BESIDE=DIR, the files of DIR
 * are copied to the working directory before each input is written.
 */
#include <dirent.h>
#include <err.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#define WORDS	32
#define INPUTS	1000

/* The tool's main(), which the build renames to tool_main(). */
int tool_main(int argc, char **argv);

static void run(char *const *words, int nr)
{
	char *argv[WORDS + 2] = { "bts" };

	memcpy(argv + 1, words, nr * sizeof(*argv));
	/* Reset getopt() to its state at the start of a process. */
	optind = 0;
	tool_main(nr + 1, argv);
}

static void run_all(int argc, char **argv)
{
	for (int first = 2, i = 2; i <= argc; i++) {
		if (i < argc && strcmp(argv[i], "--"))
			continue;
		if (i > first && i - first < WORDS)
			run(argv + first, i - first);
		first = i + 1;
	}
}

#ifdef __AFL_FUZZ_TESTCASE_LEN
__AFL_FUZZ_INIT();

static void put(int fd, const unsigned char *bytes, size_t size)
{
	if (ftruncate(fd, 0) || pwrite(fd, bytes, size, 0) != (ssize_t)size)
		abort();
	lseek(fd, 0, SEEK_SET);
}

static void put_file(const char *path, const unsigned char *bytes, size_t size)
{
	int fd = open(path, O_RDWR | O_CREAT, 0600);

	if (fd < 0)
		err(1, "%s", path);
	put(fd, bytes, size);
	close(fd);
}

static void copy(int dir, const char *name)
{
	int from = openat(dir, name, O_RDONLY);
	int to = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	struct stat st;

	if (from < 0 || to < 0 || fstat(from, &st) ||
	    sendfile(to, from, NULL, st.st_size) != st.st_size)
		err(1, "%s", name);
	close(from);
	close(to);
}

static void copy_beside(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;

	if (!dir)
		err(1, "%s", path);
	while ((entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			copy(dirfd(dir), entry->d_name);
	closedir(dir);
}
#endif

int main(int argc, char **argv)
{
	int null = open("/dev/null", O_RDWR);

	if (argc < 3)
		return 2;
	dup2(null, STDOUT_FILENO);
	if (!getenv("FUZZ_SHOW"))
		dup2(null, STDERR_FILENO);
#ifdef __AFL_FUZZ_TESTCASE_LEN
	const char *path = strcmp(argv[1], "-") ? argv[1] : NULL, *beside = getenv("FUZZ_BESIDE");
	unsigned char *input = __AFL_FUZZ_TESTCASE_BUF;

	if (!path)
		dup2(memfd_create("input", 0), STDIN_FILENO);
	while (__AFL_LOOP(INPUTS)) {
		if (beside)
			copy_beside(beside);
		if (path)
			put_file(path, input, __AFL_FUZZ_TESTCASE_LEN);
		else
			put(STDIN_FILENO, input, __AFL_FUZZ_TESTCASE_LEN);
		run_all(argc, argv);
	}
#else
	run_all(argc, argv);
#endif
	return 0;
}
