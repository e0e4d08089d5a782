// SPDX-License-Identifier: GPL-2.0-only
/* This static function has the same name as a static function in names.cc. */
static int init(int n)
{
	return n > 3 ? n * 3 : n;
}

int more(int n)
{
	return init(n) + init(n + 1) + init(n + 2);
}
