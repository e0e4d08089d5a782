// SPDX-License-Identifier: GPL-2.0-only
/*
 * Run algorithms. The tests record this program, and check the profiles that bts dump then writes.
 * Conditional jumps have a preferred direction. The argument selects the data that the algorithms
 * process. The program takes the same branches on every machine.
 */
#include <stdio.h>
#include <stdlib.h>

#define NR	3000

static unsigned int seed;
static int numbers[NR];
static char text[NR];
static unsigned char sieve[NR];
static int table[1024];

static int next(void)
{
	seed = seed * 1103515245 + 12345;
	return seed >> 16 & 0x7fff;
}

static void fill(void)
{
	for (int i = 0; i < NR; i++) {
		numbers[i] = next();
		text[i] = next() % 7 ? 'a' + next() % 26 : ' ';
	}
}

static void sort(int *list, int nr)
{
	int pivot, low = 0, high = nr - 1;

	if (nr < 2)
		return;
	if (nr < 8) {
		for (int i = 1; i < nr; i++) {
			for (int n = i; n > 0 && list[n] < list[n - 1]; n--) {
				int other = list[n];

				list[n] = list[n - 1];
				list[n - 1] = other;
			}
		}
		return;
	}
	pivot = list[nr / 2];
	while (low <= high) {
		while (list[low] < pivot)
			low++;
		while (list[high] > pivot)
			high--;
		if (low <= high) {
			int other = list[low];

			list[low++] = list[high];
			list[high--] = other;
		}
	}
	sort(list, high + 1);
	sort(list + low, nr - low);
}

static int find(int value)
{
	int low = 0, high = NR;

	while (low < high) {
		int mid = (low + high) / 2;

		if (numbers[mid] == value)
			return mid;
		if (numbers[mid] < value)
			low = mid + 1;
		else
			high = mid;
	}
	return -1;
}

static int words(void)
{
	int nr = 0, in = 0;

	for (int i = 0; i < NR; i++) {
		if (text[i] == ' ') {
			in = 0;
		} else if (!in) {
			in = 1;
			nr++;
		}
		if (text[i] == 'q')
			nr += 2;
	}
	return nr;
}

static int primes(void)
{
	int nr = 0;

	for (int i = 2; i < NR; i++) {
		if (sieve[i])
			continue;
		nr++;
		for (int n = 2 * i; n < NR; n += i)
			if (!sieve[n])
				sieve[n] = 1;
	}
	return nr;
}

static int insert(int value)
{
	unsigned int slot = value * 2654435761u >> 22;
	int steps = 0;

	while (table[slot] && table[slot] != value) {
		slot = (slot + 1) % 1024;
		if (++steps > 900)
			return -1;
	}
	if (table[slot] == value)
		return 0;
	table[slot] = value;
	return 1;
}

static int collatz(int n)
{
	int steps = 0;

	while (n != 1) {
		if (n % 2)
			n = 3 * n + 1;
		else
			n /= 2;
		if (++steps == 200)
			break;
	}
	return steps;
}

int main(int argc, char **argv)
{
	int sum = 0;

	seed = argc > 1 ? atoi(argv[1]) : 1;
	fill();
	sort(numbers, NR);
	for (int i = 0; i < 2000; i++)
		sum += find(next()) >= 0;
	sum += words() + primes();
	for (int i = 0; i < 2000; i++)
		sum += insert(next() % 700 + 1);
	for (int i = 1; i < 400; i++)
		sum += collatz(i);
	printf("%d\n", sum);
	return 0;
}
