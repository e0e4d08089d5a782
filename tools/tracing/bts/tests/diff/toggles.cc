// SPDX-License-Identifier: GPL-2.0-only
/*
 * A C++ program whose argument determines where certain branches lead. See toggles.c.
 */
#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#define NOINLINE __attribute__((noinline, noclone, noipa))

static unsigned long bits;
static volatile unsigned long sink;

static NOINLINE void work(int i)
{
	sink = sink + i;
}

struct Shape {
	virtual ~Shape() = default;
	virtual int area(int n) const = 0;
};

struct Square : Shape {
	NOINLINE int area(int n) const override { return n * n; }
};

struct Circle : Shape {
	NOINLINE int area(int n) const override
	{
		int sum = 0;

		for (int i = 0; i < n; i++)
			sum += i & n;
		return sum;
	}
};

static NOINLINE void virtual_call(const Shape &shape)
{
	work(shape.area(5));				/* toggle 0 */
	work(1);
}

static NOINLINE void thrower(int n)
{
	work(n);
	if (bits & 1UL << 1)				/* toggle 1 */
		throw std::runtime_error("toggle");
	work(2);
}

static NOINLINE void catcher()
{
	try {
		thrower(3);
	} catch (const std::exception &e) {
		sink = sink + 1;
	}
	work(4);
}

static NOINLINE void vectors(unsigned int nr)
{
	std::vector<int> list;

	for (unsigned int i = 0; i < 6; i++)
		list.push_back(i * 7 % 5);
	std::sort(list.begin(), list.end());
	for (unsigned int i = 0; i < nr; i++)		/* toggle 2 */
		work(i);
	work(list[2]);
}

static NOINLINE void maps()
{
	std::map<std::string, int> map;

	for (int i = 0; i < 5; i++)
		map[std::to_string(i * 3 % 5)] = i;
	for (const auto &pair : map) {
		work(pair.second);
		if (bits & 1UL << 3)			/* toggle 3 */
			work(9);
	}
}

template <typename T> static NOINLINE T recurse(T depth)
{
	work(depth);
	if (!depth)					/* toggle 4 */
		return 1;
	return recurse(depth - 1) + 1;
}

static NOINLINE void lambda(const std::function<int(int)> &function)
{
	for (int i = 0; i < 4; i++)
		work(function(i));
	work(5);
}

static NOINLINE void in_lambda()
{
	lambda([](int i) {
		if (bits & 1UL << 5)			/* toggle 5 */
			work(i);
		return i;
	});
}

static NOINLINE void thread(int nr, unsigned long toggled)
{
	for (int i = 0; i < nr; i++)
		work(i);
	if (toggled)					/* toggle 6 */
		work(1);
	work(2);
}

static NOINLINE void threads()
{
	std::thread first(thread, 3, bits >> 6 & 1), second(thread, 5, 0);

	first.join();
	second.join();
}

int main(int argc, char **argv)
{
	std::unique_ptr<Shape> shapes[2];

	if (argc != 2 || strlen(argv[1]) != 16)
		return 2;
	for (int i = 0; i < 16; i++)
		bits |= (argv[1][i] & 1UL) << i;
	shapes[0] = std::make_unique<Square>();
	shapes[1] = std::make_unique<Circle>();
	virtual_call(*shapes[bits & 1]);
	catcher();
	vectors(4 + 3 * (bits >> 2 & 1));
	maps();
	recurse<long>(6 + (bits >> 4 & 1) * 5);
	in_lambda();
	threads();
	return 0;
}
