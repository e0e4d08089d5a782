// SPDX-License-Identifier: GPL-2.0-only
/*
 * Make a call tree that cannot be derived from calls and returns alone. Parts of functions are in
 * .text.unlikely. One function contains 80,000 bytes of code without a branch. longjmp() leaves
 * several recursive calls at once. qsort() calls a function of the program. Signal handlers return,
 * call siglongjmp(), or change the address at which the program continues.
 */
#define _GNU_SOURCE	/* for REG_RIP */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <ucontext.h>

static jmp_buf back;
static sigjmp_buf out;
static volatile int total;
static volatile int handled;
static volatile int leaving;

void leaf(int n)
{
	total += n;
}

/* The compiler moves code to .text.unlikely if the code calls a cold function. */
void __attribute__((cold)) complain(int n)
{
	total -= n;
	leaf(1);
}

int work(int n)
{
	int result = n;

	if (n <= 0)
		return 1;
	if (n % 3 == 2) {
		complain(n);
		result += work(n - 2);
		complain(result);
	}
	leaf(n);
	return result + work(n - 1);
}

/* The cold part of this function does not return. */
int strict(int n)
{
	if (n == 7) {
		complain(n);
		longjmp(back, 2);
	}
	leaf(n);
	return strict(n + 1) + total;
}

int sink(int n)
{
	leaf(n);
	if (n == 0)
		longjmp(back, 1);
	return sink(n - 1) + total;
}

/* The frame that calls setjmp() is at a different depth each time. */
int dive(int n)
{
	if (n) {
		leaf(n);
		return dive(n - 1) + total;
	}
	switch (setjmp(back)) {
	case 0:
		return sink(5);
	case 1:
		leaf(1);
		return strict(3);
	}
	leaf(2);
	return total;
}

/* Execute 80,000 bytes of code without a branch. */
void straight(void)
{
	__asm__ volatile(".rept 20000\n\tlea 1(%%rax), %%rax\n\t.endr" : : : "rax");
	leaf(5);
}

int compare(const void *a, const void *b)
{
	leaf(3);
	return *(const int *)a - *(const int *)b;
}

void sort(void)
{
	int numbers[] = { 5, 2, 8, 1, 9, 3, 7, 4 };

	qsort(numbers, 8, sizeof(numbers[0]), compare);
	total += numbers[0];
}

void on_usr1(int sig)
{
	leaf(sig);
	handled++;
}

int signalled(int n)
{
	if (n == 0) {
		raise(SIGUSR1);
		leaf(handled);
		return total;
	}
	return signalled(n - 1) + total;
}

void on_segv(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	(void)info;
	leaf(sig);
	if (leaving)
		siglongjmp(out, 1);
	/* Continue after the faulting instruction, which is three bytes long. */
	uc->uc_mcontext.gregs[REG_RIP] += 3;
}

void fault(int n)
{
	leaf(n);
	__asm__ volatile("movb $1, (%%rax)" : : "a" (8) : "memory");
	leaf(n + 1);
}

int guarded(int n, int leave)
{
	if (n) {
		fault(n);
		return guarded(n - 1, leave) + total;
	}
	if (!sigsetjmp(out, 1)) {
		leaving = leave;
		fault(n);
	}
	leaving = 0;
	leaf(total);
	return total;
}

int main(void)
{
	struct sigaction usr1 = { .sa_handler = on_usr1 };
	struct sigaction segv = { .sa_sigaction = on_segv, .sa_flags = SA_SIGINFO };

	sigaction(SIGUSR1, &usr1, NULL);
	sigaction(SIGSEGV, &segv, NULL);
	work(9);
	for (int i = 0; i < 4; i++)
		dive(i);
	/* Page faults interrupt the first call. */
	for (int i = 0; i < 3; i++)
		straight();
	/* The kernel faults at address 8, and handles the fault itself. */
	total += nanosleep((void *)8, NULL);
	sort();
	signalled(3);
	for (int i = 0; i < 4; i++)
		guarded(i / 2, i % 2);
	leaf(total);
	fflush(stdout);
	return 0;
}
