// SPDX-License-Identifier: GPL-2.0-only
/*
 * All 32-bit tasks have the same vDSO. To read this vDSO, start a 32-bit program, stop the
 * program at the end of execve(), read the vDSO from its memory, and kill the program.
 */
#include <elf.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "vdso.h"

#define PROGRAM_ADDR	0x10000

/* Create a 32-bit program without code, because the program is killed before it runs any. */
static int make_program(void)
{
	const struct {
		Elf32_Ehdr	head;
		Elf32_Phdr	load;
	} program = {
		.head = {
			.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32, ELFDATA2LSB,
				     EV_CURRENT },
			.e_type = ET_EXEC, .e_machine = EM_386, .e_version = EV_CURRENT,
			.e_entry = PROGRAM_ADDR, .e_phoff = sizeof(Elf32_Ehdr),
			.e_ehsize = sizeof(Elf32_Ehdr), .e_phentsize = sizeof(Elf32_Phdr),
			.e_phnum = 1,
		},
		.load = {
			.p_type = PT_LOAD, .p_vaddr = PROGRAM_ADDR, .p_filesz = sizeof(program),
			.p_memsz = sizeof(program), .p_flags = PF_R | PF_X, .p_align = 4096,
		},
	};
	int fd = memfd_create("bts", MFD_CLOEXEC);

	if (fd >= 0 && write(fd, &program, sizeof(program)) != sizeof(program)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* Start a program, stop it at the end of execve(), and return its PID, or -1. */
static pid_t start_program(int fd)
{
	char *none = NULL;
	int status;
	pid_t pid;

	pid = fork();
	if (!pid) {
		if (!ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			fexecve(fd, &none, &none);
		_exit(1);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		return -1;
	return pid;
}

void *vdso_read32(size_t *size)
{
	void *vdso = NULL;
	pid_t pid;
	int fd;

	fd = make_program();
	pid = fd < 0 ? -1 : start_program(fd);
	if (pid > 0) {
		vdso = vdso_read(pid, size);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	if (fd >= 0)
		close(fd);
	return vdso;
}
