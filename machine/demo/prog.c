// SPDX-License-Identifier: GPL-2.0
/*
 * The program that the demo traces: recursion, a loop, a system call and a page fault, each in a
 * separate function. It uses no C library, because the library's branches would also be traced.
 */

#define SYS_WRITE	1
#define SYS_BRK		12
#define SYS_EXIT	60

static long syscall3(long nr, long a, long b, long c)
{
	long ret;

	asm volatile("syscall"
		     : "=a" (ret)
		     : "a" (nr), "D" (a), "S" (b), "d" (c)
		     : "rcx", "r11", "memory");
	return ret;
}

/* Recursion: the computation of fib(3) takes 5 calls of fib(). */
__attribute__((noinline)) long fib(long n)
{
	if (n < 2)
		return n;
	return fib(n - 1) + fib(n - 2);
}

/* A loop: the CPU takes the backward branch n - 1 times. */
__attribute__((noinline)) long sum(long n)
{
	long s = 0;

	for (long i = 1; i <= n; i++) {
		s += i;
		asm volatile("" : "+r" (s));
	}
	return s;
}

/* A page fault: the program stores to memory that brk() has just allocated. */
__attribute__((noinline)) void touch(void)
{
	long end = syscall3(SYS_BRK, 0, 0, 0);

	syscall3(SYS_BRK, end + 4096, 0, 0);
	*(volatile char *)(end + 8) = 1;
}

__attribute__((noinline)) void hello(void)
{
	static const char text[] = "hello from the traced program\n";

	syscall3(SYS_WRITE, 1, (long)text, sizeof(text) - 1);
}

__attribute__((noreturn)) void _start(void)
{
	long ret = fib(3) + sum(4) - 12;

	touch();
	hello();
	syscall3(SYS_EXIT, ret, 0, 0);
	__builtin_unreachable();
}
