// SPDX-License-Identifier: GPL-2.0
/*
 * fib N [time]: compute a Fibonacci number with 2 * F(N + 1) - 1 calls of fib(). The program takes
 * few other branches, because it does not use a C library. With a second argument, the program
 * writes its CPU time to standard output in binary: the seconds and the nanoseconds, 8 bytes each.
 */
static __attribute__((noinline)) long fib(long n)
{
	if (n < 2)
		return n;
	return fib(n - 1) + fib(n - 2);
}

static long call(long nr, long a, const void *b, long c)
{
	register long ret asm("rax") = nr;

	asm volatile("syscall" : "+r"(ret) : "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
	return ret;
}

static __attribute__((used, noreturn)) void run(char **argv)
{
	long time[2];
	long n = 0;
	char *s;

	for (s = argv[1]; *s; s++)
		n = 10 * n + *s - '0';
	/* Use the result of fib(). Otherwise the compiler would remove the calls. */
	asm volatile("" : : "r"(fib(n)));
	if (argv[2]) {
		call(228, 2, time, 0);		/* clock_gettime(), CLOCK_PROCESS_CPUTIME_ID */
		call(1, 1, time, sizeof(time));	/* write() */
	}
	call(231, 0, 0, 0);			/* exit_group() */
	__builtin_unreachable();
}

asm(".globl	_start\n"
	"_start:\n"
	"leaq	8(%rsp), %rdi\n"
	"andq	$-16, %rsp\n"
	"call	run\n");
