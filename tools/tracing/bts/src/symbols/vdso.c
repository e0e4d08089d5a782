// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read the vDSO from a process, because no file contains it. All 64-bit tasks have the same vDSO.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/mem.h"
#include "lib/path.h"
#include "vdso.h"

#define VDSO_MAX	(4U << 20)

static bool find_vdso(pid_t pid, uint64_t *addr, uint64_t *end)
{
	char *path = mem_format("/proc/%d/maps", pid);
	char *maps = path_read(path, NULL);
	char *line = maps ? strstr(maps, "[vdso]") : NULL;

	while (line && line > maps && line[-1] != '\n')
		line--;
	*addr = line ? strtoull(line, &line, 16) : 0;
	*end = line && *line == '-' ? strtoull(line + 1, NULL, 16) : 0;
	free(maps);
	free(path);
	return *addr && *end > *addr && *end - *addr <= VDSO_MAX;
}

void *vdso_read(pid_t pid, size_t *size)
{
	void *vdso = NULL;
	uint64_t addr, end;
	char *path;
	int fd;

	if (!find_vdso(pid, &addr, &end))
		return NULL;
	path = mem_format("/proc/%d/mem", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	*size = end - addr;
	if (fd >= 0) {
		vdso = mem_alloc(*size);
		if (pread(fd, vdso, *size, addr) != (ssize_t)*size) {
			free(vdso);
			vdso = NULL;
		}
		close(fd);
	}
	free(path);
	return vdso;
}
