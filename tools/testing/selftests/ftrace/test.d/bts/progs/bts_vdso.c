// SPDX-License-Identifier: GPL-2.0
/*
 * Find __vdso_getcpu() and __vdso_time() through the auxiliary vector, and call them. The program
 * is built without a C library, so that it executes no other functions of the vDSO. Neither
 * function has a loop that depends on the time, so every run takes the same branches. With ASLR
 * off, the addresses of these branches are the same, too.
 */
#include <elf.h>
#include <stddef.h>

#include "nolibc.h"

static const char *dyn_strings;
static const Elf64_Sym *dyn_symbols;
static unsigned long load_bias;
static unsigned int n_symbols;

static int same(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

static void parse_dynamic(const Elf64_Dyn *dyn)
{
	for (; dyn->d_tag != DT_NULL; dyn++) {
		void *at = (void *)(load_bias + dyn->d_un.d_ptr);

		if (dyn->d_tag == DT_STRTAB)
			dyn_strings = at;
		else if (dyn->d_tag == DT_SYMTAB)
			dyn_symbols = at;
	}
}

static void parse_vdso(unsigned long base)
{
	const Elf64_Ehdr *ehdr = (void *)base;
	const Elf64_Phdr *phdr = (void *)(base + ehdr->e_phoff);
	const Elf64_Shdr *shdr = (void *)(base + ehdr->e_shoff);
	const Elf64_Phdr *dynamic = NULL;
	int i;

	for (i = 0; i < ehdr->e_phnum; i++) {
		if (phdr[i].p_type == PT_LOAD)
			load_bias = base + phdr[i].p_offset - phdr[i].p_vaddr;
		else if (phdr[i].p_type == PT_DYNAMIC)
			dynamic = &phdr[i];
	}
	if (dynamic)
		parse_dynamic((void *)(base + dynamic->p_offset));
	for (i = 0; i < ehdr->e_shnum; i++)
		if (shdr[i].sh_type == SHT_DYNSYM)
			n_symbols = shdr[i].sh_size / sizeof(Elf64_Sym);
}

static void *find(const char *name)
{
	unsigned int i;

	for (i = 0; i < n_symbols; i++)
		if (same(dyn_strings + dyn_symbols[i].st_name, name))
			return (void *)(load_bias + dyn_symbols[i].st_value);
	return NULL;
}

int bts_main(unsigned long *stack)
{
	long (*vdso_getcpu)(unsigned int *cpu, unsigned int *node, void *unused);
	long (*vdso_time)(long *when);
	unsigned long *auxv = stack + 1 + stack[0] + 1;
	unsigned int cpu, node;

	while (*auxv)
		auxv++;
	for (auxv++; auxv[0] != 0; auxv += 2)
		if (auxv[0] == AT_SYSINFO_EHDR)
			parse_vdso(auxv[1]);

	vdso_getcpu = find("__vdso_getcpu");
	vdso_time = find("__vdso_time");
	if (!vdso_getcpu || !vdso_time)
		return 1;
	if (vdso_getcpu(&cpu, &node, NULL))
		return 1;
	return vdso_time(NULL) == 0;
}
