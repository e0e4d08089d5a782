// SPDX-License-Identifier: GPL-2.0-only
/* A library for loads.c and reload.c. */
int twice(int n);

int twice(int n)
{
	int i, s = 0;

	for (i = 0; i < n; i++)
		s += 2;
	return s;
}
