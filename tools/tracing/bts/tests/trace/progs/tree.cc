// SPDX-License-Identifier: GPL-2.0-only
/*
 * Throw exceptions through six frames, some with destructors. Catch and rethrow exceptions in
 * recursive functions. Throw types that the innermost frames do not catch. Throw in a constructor.
 */
static volatile int total;

struct guard {
	int n;

	guard(int n) : n(n) { total += n; }
	~guard() { total -= n; }
};

struct other {
	int n;
};

void leaf(int n)
{
	total += n;
}

int thrower(int n)
{
	leaf(n);
	if (n > 100)
		return n;
	if (n % 2)
		throw other{ n };
	throw n;
}

int six(int n) { return thrower(n) + total; }
int five(int n) { guard g(5); return six(n) + total; }
int four(int n) { leaf(4); return five(n) + total; }
int three(int n) { guard g(3); leaf(3); return four(n) + total; }
int two(int n) { guard a(1), b(2); return three(n) + total; }

int catcher(int n)
{
	try {
		return two(n);
	} catch (int caught) {
		leaf(caught);
	} catch (const other &caught) {
		guard g(7);
		leaf(caught.n + 1);
	}
	leaf(n);
	return total;
}

/* Level 3 catches an int, and throws an object of type "other". Outer levels rethrow it. */
int recurse(int level)
{
	guard g(level);

	if (level == 0)
		return thrower(2);
	try {
		if (level != 3)
			return recurse(level - 1) + total;
	} catch (const other &caught) {
		leaf(caught.n);
		throw;
	}
	try {
		return recurse(level - 1) + total;
	} catch (int caught) {
		leaf(caught);
		throw other{ level };
	}
}

/* Levels 1 and 2 catch the exception and rethrow it. Level 3 only catches it. */
int ladder(int n)
{
	if (n == 0)
		return thrower(4);
	try {
		return ladder(n - 1) + total;
	} catch (int caught) {
		leaf(n);
		if (n == 3)
			return total;
		throw;
	}
}

/* The compiler moves the constructor's throw to checked::checked(int) [clone .cold]. */
struct checked {
	int n;

	explicit checked(int number);
};

checked::checked(int number) : n(number)
{
	leaf(n);
	if (n % 2)
		throw n;
}

int make(int n)
{
	try {
		checked c(n);

		return c.n + total;
	} catch (int caught) {
		leaf(caught);
	}
	return total;
}

int top(int n)
{
	try {
		return recurse(n) + total;
	} catch (...) {
		leaf(9);
	}
	return ladder(5) + total;
}

int main()
{
	for (int i = 0; i < 4; i++)
		catcher(i);
	make(1);
	make(2);
	top(6);
	leaf(1);
	return 0;
}
