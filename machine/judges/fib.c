// SPDX-License-Identifier: GPL-2.0
/*
 * fib N: naive recursion, as the compiler makes it; 2 * F(N + 1) - 1 calls of fib().
 * Without a C library, so that the program has no other branches.
 */
static __attribute__((noinline)) long fib(long n)
{
	if (n < 2)
		return n;
	return fib(n - 1) + fib(n - 2);
}

static __attribute__((used, noreturn)) void run(char **argv)
{
	long n = 0;
	char *s;

	for (s = argv[1]; *s; s++)
		n = 10 * n + *s - '0';
	/* Otherwise the compiler would leave the calls out. */
	asm volatile("" : : "r"(fib(n)));
	asm volatile("syscall" : : "a"(231), "D"(0L));
	__builtin_unreachable();
}

asm(".globl	_start\n"
	"_start:\n"
	"leaq	8(%rsp), %rdi\n"
	"andq	$-16, %rsp\n"
	"call	run\n");
