// SPDX-License-Identifier: GPL-2.0-only
/* A small JIT compiler, which generates a function and writes its name to /tmp/perf-PID.map. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* mov %edi, %eax; 1: dec %edi; jnz 1b; ret */
static const unsigned char code[] = { 0x89, 0xf8, 0xff, 0xcf, 0x75, 0xfc, 0xc3 };

int main(void)
{
	int (*made)(int), total = 0;
	char path[64];
	void *memory;
	FILE *map;

	memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return 1;
	memcpy(memory, code, sizeof(code));
	if (mprotect(memory, 4096, PROT_READ | PROT_EXEC))
		return 1;
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	map = fopen(path, "w");
	if (!map)
		return 1;
	/* Pretend that another function was at the same address before. */
	fprintf(map, "%lx %zx old\n", (unsigned long)memory, sizeof(code));
	fprintf(map, "%lx %zx made_up\n", (unsigned long)memory, sizeof(code));
	fclose(map);
	memcpy(&made, &memory, sizeof(made));
	for (int i = 1; i <= 10; i++)
		total += made(i);
	printf("%d\n", total);
	return 0;
}
