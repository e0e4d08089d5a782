// SPDX-License-Identifier: GPL-2.0-only
/*
 * A small JIT compiler that writes a jitdump file. The program generates code at run time, in a
 * memfd that is mapped twice. The names and the bytes of the code are in jit-PID.dump. The program
 * maps this file, so that a tracer notices it. The second function calls the first function twice.
 * The dump also contains two older functions, which overlap these two functions in memory.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct header {
	uint32_t	magic, version, size, machine, pad, pid;
	uint64_t	time, flags;
};

struct load {
	uint32_t	id, size;
	uint64_t	time;
	uint32_t	pid, tid;
	uint64_t	vma, addr, code_size, index;
};

/* mov %edi, %eax; 1: dec %edi; jnz 1b; ret */
static const unsigned char inner[] = { 0x89, 0xf8, 0xff, 0xcf, 0x75, 0xfc, 0xc3 };
/* push %rdi; call inner; pop %rdi; call inner; ret. This code starts at inner + 16. */
static const unsigned char outer[] = {
	0x57, 0xe8, 0xea, 0xff, 0xff, 0xff, 0x5f, 0xe8, 0xe4, 0xff, 0xff, 0xff, 0xc3,
};

/* An older function, whose code started at inner + 8. */
static const unsigned char older[24];

static void put(int fd, const char *name, void *addr, const void *code, size_t size)
{
	struct load load = {
		.size = sizeof(load) + strlen(name) + 1 + size, .pid = getpid(), .tid = getpid(),
		.vma = (uintptr_t)addr, .addr = (uintptr_t)addr, .code_size = size,
	};

	if (write(fd, &load, sizeof(load)) < 0 || write(fd, name, strlen(name) + 1) < 0 ||
	    write(fd, code, size) < 0)
		_exit(1);
}

int main(void)
{
	struct header header = {
		.magic = 0x4a695444, .version = 1, .size = sizeof(header), .machine = 62,
		.pid = getpid(),
	};
	int fd, memfd = memfd_create("made", 0), total = 0, (*made)(int);
	unsigned char *code, *view;
	char path[64];
	void *mark;

	snprintf(path, sizeof(path), "jit-%d.dump", getpid());
	fd = open(path, O_CREAT | O_TRUNC | O_RDWR, 0600);
	if (fd < 0 || memfd < 0 || ftruncate(memfd, 4096) ||
	    write(fd, &header, sizeof(header)) != sizeof(header))
		return 1;
	mark = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	view = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, memfd, 0);
	code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, memfd, 0);
	if (mark == MAP_FAILED || view == MAP_FAILED || code == MAP_FAILED)
		return 1;
	memcpy(view, inner, sizeof(inner));
	memcpy(view + 16, outer, sizeof(outer));
	put(fd, "made_before", code, outer, sizeof(outer));
	put(fd, "made_before_too", code + 8, older, sizeof(older));
	put(fd, "made_inner", code, inner, sizeof(inner));
	put(fd, "made_outer", code + 16, outer, sizeof(outer));
	code += 16;
	memcpy(&made, &code, sizeof(made));
	for (int i = 1; i <= 10; i++)
		total += made(i);
	printf("%d\n", total);
	return 0;
}
