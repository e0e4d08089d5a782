// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parse lists of CPUs.
 */
#include <stdlib.h>

#include "cpus.h"

static int number(const char **text, long *number)
{
	char *end;

	if (**text < '0' || **text > '9')
		return -1;
	*number = strtol(*text, &end, 10);
	*text = end;
	return *number < CPUS_MAX ? 0 : -1;
}

int cpus_next(const char **list, long *from, long *to)
{
	if (!**list)
		return 0;
	if (number(list, from))
		return -1;
	*to = *from;
	if (**list == '-') {
		(*list)++;
		if (number(list, to) || *to < *from)
			return -1;
	}
	if (!**list)
		return 1;
	/* If the list does not end here, a comma and another range must follow. */
	if (**list != ',' || !(*list)[1])
		return -1;
	(*list)++;
	return 1;
}
