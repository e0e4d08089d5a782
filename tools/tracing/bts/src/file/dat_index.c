// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read the index of a trace.dat. The index contains the start time of each chunk of each CPU. The
 * index lets the reader skip unwanted chunks. If the index is missing or does not match the data,
 * the reader reads all chunks.
 */
#include <string.h>

#include "lib/mem.h"
#include "dat.h"
#include "dat_parts.h"

static struct dat_cpu *find_cpu(struct dat *dat, int cpu)
{
	for (size_t i = 0; i < dat->nr_cpus; i++)
		if (dat->cpus[i].cpu == cpu && !*dat->cpus[i].instance && !dat->cpus[i].times)
			return &dat->cpus[i];
	return NULL;
}

void dat_index(struct dat *dat)
{
	const uint8_t *text = (const uint8_t *)dat->index.text;
	struct dat_bytes b;

	if (!text)
		return;
	b = (struct dat_bytes) { .at = text, .end = text + dat->index.size };
	while (b.at < b.end) {
		struct dat_cpu *cpu = find_cpu(dat, dat_u32(&b));
		uint32_t nr = dat_u32(&b);
		const uint8_t *times = dat_skip(&b, (uint64_t)nr * sizeof(uint64_t));

		if (!times)
			return;
		if (!cpu || !nr)
			continue;
		cpu->times = mem_alloc(nr * sizeof(uint64_t));
		memcpy(cpu->times, times, nr * sizeof(uint64_t));
		cpu->nr_times = nr;
	}
}
