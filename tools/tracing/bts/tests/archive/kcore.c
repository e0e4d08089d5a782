// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test the archive of the kernel's code with a made-up kernel. Print KTAP.
 *
 *	kcore DIR	write DIR/kcore, DIR/kallsyms and DIR/t.archive
 *
 * The test saves the code, changes a page of the text, removes a module, and saves the code again.
 *
 * The made-up kernel consists of three pages of text, a module and a BPF program. The last page of
 * text is incomplete in kcore. The module has two functions in neighbouring pages. The BPF program
 * is not in kcore. Each page begins with its own address, so that the test can detect a misplaced
 * page.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char kcore_path[256], kallsyms_path[256];

#define KCORE		kcore_path
#define KALLSYMS	kallsyms_path
#include "../../src/symbols/kernel_code.c"

#define TEXT	0xffffffff81000000ull
#define MODULE	0xffffffffc0000000ull
#define BPF	0xffffffffd0000000ull

static int test, failed;

static void ok(int good, const char *name)
{
	printf("%sok %d %s\n", good ? "" : "not ", ++test, name);
	failed |= !good;
}

/* Write headers and segments in the format of the kernel's kcore. */
static void write_kcore(uint64_t patch)
{
	Elf64_Ehdr head = { .e_phoff = sizeof(head), .e_phnum = 2 };
	Elf64_Phdr loads[2] = {
		{ .p_type = PT_LOAD, .p_offset = 0x1000, .p_vaddr = MODULE, .p_memsz = 0x8000 },
		{ .p_type = PT_LOAD, .p_offset = 0x9000, .p_vaddr = TEXT, .p_memsz = 0x3000 },
	};
	int fd = open(kcore_path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	if (pwrite(fd, &head, sizeof(head), 0) < 0 ||
	    pwrite(fd, loads, sizeof(loads), sizeof(head)) < 0)
		failed = 1;
	for (int i = 0; i < 2; i++) {
		for (uint64_t at = 0; at < loads[i].p_memsz; at += PAGE) {
			uint64_t addr = loads[i].p_vaddr + at;

			if (addr == TEXT + 0x1000)
				addr += patch;
			if (pwrite(fd, &addr, sizeof(addr), loads[i].p_offset + at) < 0)
				failed = 1;
		}
	}
	if (ftruncate(fd, 0xc000))
		failed = 1;
	close(fd);
}

static void write_kallsyms(int module)
{
	FILE *file = fopen(kallsyms_path, "w");

	fprintf(file, "0000000000000000 A fixed_percpu_data\n");
	fprintf(file, "%llx T _stext\n%llx t helper\n%llx T _etext\n", TEXT, TEXT + 0x20,
		TEXT + 0x2f00);
	if (module)
		fprintf(file, "%llx t second\t[mod]\n%llx t first\t[mod]\n%llx d data\t[mod]\n",
			MODULE + 0x1010, MODULE + 0x10, MODULE + 0x7000);
	fprintf(file, "%llx t bpf_prog_1\t[bpf]\n", BPF + 0x123);
	fclose(file);
}

/* Return: the word at @addr in the archive, or -1. Set *@size to the size of the segment. */
static uint64_t word_at(const char *path, uint64_t addr, uint64_t *size)
{
	int fd = open(path, O_RDONLY);
	uint64_t word = -1;
	Elf64_Ehdr head;

	*size = 0;
	if (pread(fd, &head, sizeof(head), 0) != sizeof(head))
		head.e_phnum = 0;
	for (int i = 0; i < head.e_phnum; i++) {
		Elf64_Phdr load;

		if (pread(fd, &load, sizeof(load), head.e_phoff + i * sizeof(load)) < 0 ||
		    addr < load.p_vaddr || addr >= load.p_vaddr + load.p_filesz)
			continue;
		*size = load.p_filesz;
		if (pread(fd, &word, sizeof(word), load.p_offset + addr - load.p_vaddr) < 0)
			word = -1;
	}
	close(fd);
	return word;
}

static char trace[256], saved[256], before[256], later[256];

static void in(char *path, const char *dir, const char *name)
{
	snprintf(path, 256, "%s/%s", dir, name);
}

static void set_paths(const char *dir)
{
	in(kcore_path, dir, "kcore");
	in(kallsyms_path, dir, "kallsyms");
	in(trace, dir, "t");
	in(saved, dir, "t.archive/kcore");
	in(before, dir, "t.archive/kcore.before");
	in(later, dir, "t.archive/kcore.later");
}

int main(int argc, char **argv)
{
	struct kernel_code *code;
	uint64_t size;

	if (argc != 2)
		return 2;
	set_paths(argv[1]);
	archive_remove(trace);
	write_kcore(0);
	write_kallsyms(1);
	puts("TAP version 13\n1..10");
	kernel_code_save(trace, NULL);
	ok(word_at(later, TEXT + 0x1000, &size) == TEXT + 0x1000 && access(saved, F_OK),
	   "code that was saved only after the recording is in kcore.later");
	code = kernel_code_take();
	kernel_code_save(trace, code);
	ok(word_at(saved, TEXT, &size) == TEXT && size == 0x3000 &&
	   word_at(saved, TEXT + 0x2000, &size) == TEXT + 0x2000, "the kernel's text is saved");
	ok(word_at(saved, MODULE + 0x1000, &size) == MODULE + 0x1000 && size == 0x5000,
	   "a module's functions are saved in one piece");
	ok(word_at(saved, MODULE + 0x7000, &size) == UINT64_MAX, "a module's data are not saved");
	ok(word_at(saved, BPF, &size) == 0 && size, "code that cannot be read is saved as 0");
	ok(access(before, F_OK), "if no code has changed, no earlier version is saved");
	write_kcore(7);
	write_kallsyms(0);
	kernel_code_save(trace, code);
	kernel_code_free(code);
	ok(word_at(saved, TEXT + 0x1000, &size) == TEXT + 0x1007,
	   "a page that has changed is saved");
	ok(word_at(before, TEXT + 0x1000, &size) == TEXT + 0x1000 && size == PAGE &&
	   word_at(before, TEXT, &size) == UINT64_MAX,
	   "kcore.before contains the old code of the changed page, and no unchanged page");
	ok(word_at(before, MODULE + 0x1000, &size) == MODULE + 0x1000,
	   "the code of a module that was removed is saved");
	archive_remove(trace);
	ok(access(saved, F_OK) && access(before, F_OK) && access(later, F_OK),
	   "all saved code is removed with the archive");
	return failed;
}
