// SPDX-License-Identifier: GPL-2.0-only
/* A static function in names.cc has the same name as this static function. */
static int init(int n)
{
	return n > 3 ? n * 3 : n;
}

int more(int n)
{
	return init(n) + init(n + 1) + init(n + 2);
}
