// SPDX-License-Identifier: GPL-2.0-only
/*
 * The argument of this program determines where certain branches lead. Bit N of the argument
 * affects only the branch on the line with the comment "toggle N".
 *
 *	toggles BITS		Pass 16 digits (0 or 1). The first digit is bit 0.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline, noclone, noipa))

static unsigned long bits;
static volatile unsigned long sink;
static int values[64];

static NOINLINE void work(int i)
{
	sink += i;
}

static NOINLINE void other_work(int i)
{
	sink ^= i;
	for (int j = 0; j < 3; j++)
		sink += j;
}

static NOINLINE void straight(void)
{
	sink++;
	if (bits & 1UL << 0)				/* toggle 0 */
		sink += 7;
	sink ^= 5;
	work(1);
}

static NOINLINE void every_iteration(void)
{
	for (int i = 0; i < 10; i++) {
		sink += i;
		if (bits & 1UL << 1)			/* toggle 1 */
			sink += 7;
		work(i);
	}
}

static NOINLINE void more_iterations(void)
{
	int nr = 12 + (bits >> 2 & 1) * 5;

	for (int i = 0; i < nr; i++)			/* toggle 2 */
		sink += i;
}

static NOINLINE void one_iteration(void)
{
	int which = (bits >> 3 & 1) * 4 - 1;

	for (int i = 0; i < 9; i++) {
		work(i);
		if (i == which)				/* toggle 3 */
			work(100);
	}
}

static NOINLINE int recurse(int depth)
{
	sink += depth;
	if (!depth)					/* toggle 4 */
		return 1;
	return recurse(depth - 1) + 1;
}

static NOINLINE int leaf(int n)
{
	if (n < 2) {
		if (bits & 1UL << 5)			/* toggle 5 */
			work(2);
		return n;
	}
	return leaf(n - 1) + leaf(n - 2);
}

static NOINLINE void choose(unsigned int nr)
{
	switch (nr) {					/* toggle 6 */
	case 0:
		work(10);
		break;
	case 1:
		other_work(11);
		break;
	case 2:
		work(12);
		work(13);
		break;
	case 3:
		other_work(14);
		work(2);
		break;
	case 4:
		work(15);
		other_work(1);
		break;
	case 5:
		other_work(3);
		break;
	}
}

static NOINLINE void through_pointer(void)
{
	static void (*const functions[2])(int) = { work, other_work };

	functions[bits >> 7 & 1](4);		/* toggle 7 */
	work(1);
}

static NOINLINE int early(const int *list, int nr)
{
	for (int i = 0; i < nr; i++)
		if (list[i] == 42)			/* toggle 8 */
			return i;
	return -1;
}

static NOINLINE void library(void)
{
	char text[64];

	if (bits & 1UL << 9)				/* toggle 9 */
		snprintf(text, sizeof(text), "%d", 9);
	sink += snprintf(text, sizeof(text), "%lu %s", 12345UL, "text");
}

static NOINLINE void nested(void)
{
	int which = (bits >> 10 & 1) * 20 - 1;

	for (int i = 0; i < 6; i++) {
		for (int j = 0; j < 7; j++) {
			if (i * 7 + j == which)		/* toggle 10 */
				other_work(j);
			work(j);
		}
		sink += i;
	}
}

static NOINLINE void allocate(void)
{
	char *first = malloc(100), *second;

	if (bits & 1UL << 11)				/* toggle 11 */
		free(malloc(3000));
	second = malloc(200);
	memset(second, 1, 200);
	sink += second[3];
	free(first);
	free(second);
}

static NOINLINE void jump(void)
{
	static jmp_buf point;

	if (setjmp(point)) {
		work(3);
		return;
	}
	work(2);
	if (bits & 1UL << 12)				/* toggle 12 */
		longjmp(point, 1);
	work(3);
}

static NOINLINE int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static NOINLINE void sorted(void)
{
	int list[20];

	for (int i = 0; i < 20; i++)
		list[i] = i * 7 % 20;
	qsort(list, 20, sizeof(*list), compare);
	sink += list[3];
}

static void *thread(void *argument)
{
	unsigned long which = 13 + (unsigned long)argument;

	which *= bits >> which & 1;

	for (int i = 0; i < 5; i++) {
		work(i);
		if (which == 13)			/* toggle 13 */
			other_work(i);
	}
	if (which == 14)				/* toggle 14 */
		work(9);
	return NULL;
}

static void *another_thread(void *argument)
{
	(void)argument;
	for (int i = 0; i < 4; i++)
		other_work(i);
	if (bits & 1UL << 15)				/* toggle 15 */
		other_work(9);
	return NULL;
}

static NOINLINE void threads(void)
{
	pthread_t ids[3];

	pthread_create(&ids[0], NULL, thread, (void *)0);
	pthread_create(&ids[1], NULL, another_thread, NULL);
	pthread_create(&ids[2], NULL, thread, (void *)1);
	for (int i = 0; i < 3; i++)
		pthread_join(ids[i], NULL);
}

int main(int argc, char **argv)
{
	if (argc != 2 || strlen(argv[1]) != 16)
		return 2;
	for (int i = 0; i < 16; i++)
		bits |= (argv[1][i] & 1UL) << i;
	values[20] = 42;
	values[11] = (bits >> 8 & 1) * 42;
	straight();
	every_iteration();
	more_iterations();
	one_iteration();
	recurse(12 + (bits >> 4 & 1) * 5);
	leaf(6);
	choose(2 + (bits >> 6 & 1) * 2);
	through_pointer();
	sink += early(values, 64);
	library();
	nested();
	allocate();
	jump();
	sorted();
	threads();
	return 0;
}
