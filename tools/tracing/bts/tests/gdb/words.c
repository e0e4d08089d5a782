// SPDX-License-Identifier: GPL-2.0-only
/*
 * words WORD... [-WORD...]: takes words into a list, or drops them. The status is 0 if one of
 * those that are left has an o. Nothing is printed, because a single-stepper prints there.
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
