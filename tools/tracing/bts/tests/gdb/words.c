// SPDX-License-Identifier: GPL-2.0-only
/*
 * words WORD... [-WORD...]: add or remove words of a list. The status is 0 if a remaining word
 * contains an "o". The program does not print, because the single-stepper uses standard output.
 */
#include "list.h"

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (argv[i][0] == '-')
			list_drop(argv[i] + 1);
		else
			list_add(argv[i]);
	}
	return !list_count('o');
}
