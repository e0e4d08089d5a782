// SPDX-License-Identifier: GPL-2.0
/*
 * bts_fuzz - write valid and invalid data to a tracefs file
 *
 *	bts_fuzz [-s SEED] [-n WRITES] [-c] FILE MAXIMUM
 *
 * FILE accepts numbers from 0 (or 64 for bts_threshold) to MAXIMUM. The program makes WRITES
 * (default 10000) writes of random data to FILE. SEED (default 1) is the random seed. The data are
 * valid numbers, invalid numbers, words, binary data, or whole pages of digits. An invalid number
 * is negative, too large or in another base, or contains a character that is not a digit. Some
 * writes are empty, and some are from inaccessible memory. After each write, FILE must show the
 * written number or, after an error (EINVAL, ERANGE, EFAULT), the previous number. With -c, the
 * program checks only the result of each write, because other programs write at the same time.
 *
 * The program prints each failed check on standard error. It ends early after ten failed checks.
 * The exit status is 1 if a check has failed.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A valid number is shorter than LONG bytes. Messages show at most LONG bytes of a text. */
#define LONG 40

static unsigned int seed = 1;
static const char *name;
static long minimum, maximum;

struct text {
	char bytes[3 * 4096];
	size_t n;
	long value;		/* -1: invalid */
};

static unsigned int one_of(unsigned int n)
{
	return rand_r(&seed) % n;
}

static void set(struct text *t, const char *text, long value)
{
	t->n = strlen(text);
	memcpy(t->bytes, text, t->n);
	t->value = value;
}

/* Make a valid number, with or without a newline. */
static void right(struct text *t)
{
	long value = minimum + one_of(maximum - minimum + 1);
	char text[32];

	snprintf(text, sizeof(text), one_of(2) ? "%ld\n" : "%ld", value);
	set(t, text, value);
}

static void wrong_number(struct text *t)
{
	static const char * const numbers[] = {
		"-1", "-0", "2147483648", "4294967296", "4294967297",
		"18446744073709551615", "18446744073709551616",
		"99999999999999999999999999", "9223372036854775807",
		"-9223372036854775808", "0x1", "1e0", "1.0", "1 ", " 1", "+ 1", "--1",
		"1\n\n", "1,0", "1-1", "on", "off", "y", "", "\n", " ", "%s%n",
	};
	char text[32];

	if (!one_of(4)) {
		snprintf(text, sizeof(text), "%ld", maximum + 1 + one_of(1000000));
		set(t, text, -1);
		return;
	}
	set(t, numbers[one_of(sizeof(numbers) / sizeof(*numbers))], -1);
}

static void binary(struct text *t)
{
	size_t i;

	t->n = 1 + one_of(one_of(2) ? LONG : sizeof(t->bytes));
	for (i = 0; i < t->n; i++)
		t->bytes[i] = rand_r(&seed);
	/* A first byte that is neither digit nor sign makes the data invalid. */
	t->bytes[0] |= 0x80;
	t->value = -1;
}

static void full(struct text *t)
{
	t->n = 4096 * (1 + one_of(3)) - one_of(2);
	memset(t->bytes, '9', t->n);
	t->value = -1;
}

static void make(struct text *t)
{
	switch (one_of(8)) {
	case 0:
	case 1:
		right(t);
		break;
	case 2:
		binary(t);
		break;
	case 3:
		full(t);
		break;
	default:
		wrong_number(t);
	}
}

static long shown(int fd)
{
	char text[32];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	if (n <= 0)
		return -2;
	text[n] = 0;
	return atol(text);
}

static void complain(const struct text *t, ssize_t n, int error, long before, long after)
{
	size_t i;

	fprintf(stderr, "%s: %zu bytes, result %zd, %s; %ld before, %ld after: ",
		name, t->n, n, error ? strerror(error) : "no error", before, after);
	for (i = 0; i < t->n && i < LONG; i++)
		fprintf(stderr, isprint((unsigned char)t->bytes[i]) ? "%c" : "\\x%02x",
			(unsigned char)t->bytes[i]);
	fprintf(stderr, "\n");
}

static bool right_error(int error)
{
	return error == EINVAL || error == ERANGE || error == EFAULT;
}

/* The address of inaccessible memory. */
static void *nowhere;

static bool write_nowhere(int fd)
{
	return write(fd, nowhere, 1 + one_of(64)) < 0 && errno == EFAULT;
}

static bool try(int fd, bool alone)
{
	struct text t;
	long before, after;
	ssize_t n;
	int error;

	make(&t);
	before = shown(fd);
	if (!one_of(50) && !write_nowhere(fd)) {
		complain(&t, -1, errno, before, shown(fd));
		return false;
	}
	n = pwrite(fd, t.bytes, t.n, 0);
	error = n < 0 ? errno : 0;
	after = shown(fd);

	/* An empty write has no effect and returns no error. */
	if (!t.n && !n)
		t.value = before;
	if (t.value < 0 ? n < 0 && right_error(error) && (!alone || after == before) :
			  n == (ssize_t)t.n && (!alone || after == t.value))
		return true;
	complain(&t, n, error, before, after);
	return false;
}

int main(int argc, char **argv)
{
	int writes = 10000, bad = 0, opt, fd, i;
	bool alone = true;

	while ((opt = getopt(argc, argv, "s:n:c")) != -1) {
		if (opt == 's')
			seed = atoi(optarg);
		else if (opt == 'n')
			writes = atoi(optarg);
		else if (opt == 'c')
			alone = false;
		else
			return 2;
	}
	if (optind + 2 != argc) {
		fprintf(stderr, "usage: bts_fuzz [-s SEED] [-n WRITES] [-c] FILE MAXIMUM\n");
		return 2;
	}
	name = argv[optind];
	maximum = atol(argv[optind + 1]);
	minimum = strstr(name, "bts_threshold") ? 64 : 0;
	fd = open(name, O_RDWR);
	if (fd < 0) {
		fprintf(stderr, "bts_fuzz: %s: %s\n", name, strerror(errno));
		return 1;
	}
	nowhere = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (i = 0; i < writes && bad < 10; i++)
		bad += !try(fd, alone);
	return bad > 0;
}
