// SPDX-License-Identifier: GPL-2.0-only
/* Run a handler on its own stack, leave a handler by siglongjmp(), skip frames by longjmp(). */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static sigjmp_buf out;
static jmp_buf back;
static volatile int handled;

void on_usr1(int sig)
{
	(void)sig;
	handled++;
}

void on_segv(int sig)
{
	(void)sig;
	siglongjmp(out, 1);
}

void jump(int n)
{
	if (n == 0)
		longjmp(back, 1);
	jump(n - 1);
}

int after(int n)
{
	return n * 3;
}

int main(void)
{
	stack_t stack = { .ss_sp = malloc(65536), .ss_size = 65536 };
	struct sigaction usr1 = { .sa_handler = on_usr1, .sa_flags = SA_ONSTACK };
	struct sigaction segv = { .sa_handler = on_segv, .sa_flags = SA_ONSTACK };
	int total = 0;

	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &usr1, NULL);
	sigaction(SIGSEGV, &segv, NULL);
	for (int i = 0; i < 5; i++)
		kill(getpid(), SIGUSR1);
	if (!sigsetjmp(out, 1))
		*(volatile int *)8 = 1;
	if (!setjmp(back))
		jump(7);
	total = after(handled);
	printf("%d\n", total);
	return 0;
}
