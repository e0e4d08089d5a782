// SPDX-License-Identifier: GPL-2.0-only
/* The library that loads.c and reload.c load. */
int twice(int n);

int twice(int n)
{
	int i, s = 0;

	for (i = 0; i < n; i++)
		s += 2;
	return s;
}
