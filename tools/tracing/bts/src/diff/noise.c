// SPDX-License-Identifier: GPL-2.0-only
/*
 * Find executed code that differs between two runs by chance (noise). Without --all, noise is not
 * compared:
 *
 *	- Interrupts and page faults are left out. If they cut a straight run, the parts are joined.
 *	- In the kernel, no branches are compared. A system call counts as one branch.
 *	- When a program first calls a library function, the dynamic linker looks up the function.
 *	  The call is compared, but the linker's branches are not.
 *	- Some library functions depend on addresses, the clock or other threads (see noise_of()).
 *	  The calls of these functions are compared, but the branches inside the functions are
 *	  not. If a different result matters to the caller, the caller's branches differ, too.
 */
#include <fnmatch.h>
#include <string.h>

#include "lib/mem.h"
#include "noise.h"

const char *const noise_names[NOISE_KINDS] = {
	[NOISE_STRINGS]		= "string and memory functions",
	[NOISE_ALLOCATOR]	= "malloc() and free()",
	[NOISE_WAITING]		= "functions that start threads or wait for them",
	[NOISE_CLOCK]		= "functions that read a clock",
};

struct pattern {
	const char	*name;
	uint8_t		noise;
};

/* Patterns for symbol names. Underscores at the beginning of a symbol name are ignored. */
static const struct pattern patterns[] = {
	{ "mem[cmprs]*", NOISE_STRINGS }, { "wmem*", NOISE_STRINGS },
	{ "str[cnprs]*", NOISE_STRINGS }, { "strlen*", NOISE_STRINGS },
	{ "wcs[cnprs]*", NOISE_STRINGS }, { "wcslen*", NOISE_STRINGS },
	{ "stpcpy*", NOISE_STRINGS }, { "stpncpy*", NOISE_STRINGS },
	{ "rawmemchr*", NOISE_STRINGS }, { "bcmp*", NOISE_STRINGS },
	{ "bzero*", NOISE_STRINGS }, { "explicit_bzero*", NOISE_STRINGS },
	{ "libc_malloc", NOISE_ALLOCATOR }, { "libc_calloc", NOISE_ALLOCATOR },
	{ "libc_realloc", NOISE_ALLOCATOR }, { "libc_free", NOISE_ALLOCATOR },
	{ "libc_memalign", NOISE_ALLOCATOR }, { "malloc", NOISE_ALLOCATOR },
	{ "calloc", NOISE_ALLOCATOR }, { "realloc", NOISE_ALLOCATOR },
	{ "free", NOISE_ALLOCATOR }, { "cfree", NOISE_ALLOCATOR },
	{ "posix_memalign", NOISE_ALLOCATOR }, { "aligned_alloc", NOISE_ALLOCATOR },
	{ "malloc_arena_thread_freeres", NOISE_ALLOCATOR },
	{ "pthread_*", NOISE_WAITING }, { "lll_*", NOISE_WAITING },
	{ "futex_*", NOISE_WAITING }, { "sem_*", NOISE_WAITING },
	{ "nptl_*", NOISE_WAITING }, { "thrd_*", NOISE_WAITING }, { "mtx_*", NOISE_WAITING },
	{ "cnd_*", NOISE_WAITING },
	/*
	 * These two functions set the name of a mapping. The name of a stack contains a PID, and
	 * the first call in a process also reads a tunable. So the functions' branches may differ.
	 */
	{ "name_stack_maps", NOISE_WAITING }, { "set_vma_name", NOISE_WAITING },
	{ "clock_*", NOISE_CLOCK }, { "gettimeofday", NOISE_CLOCK }, { "time", NOISE_CLOCK },
};

/* Rust's library is usually linked into the program. Match its names in both mangling schemes. */
static const char *const rust_waiting[] = {
	"*3std3sys4sync*", "*3std3sys*14stack_overflow*", "*3std3sys*5futex*",
};

static bool begins(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

static bool is_runtime(const char *object)
{
	static const char *const names[] = {
		"libc.so", "libc-", "ld-linux", "ld-2", "ld.so", "libpthread", "libstdc++.so",
		"libgcc_s.so", "libc++",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (begins(object, names[i]))
			return true;
	return false;
}

static uint8_t noise_of(const struct function *fn)
{
	const char *name = fn->sym->linked;

	if (begins(fn->sym->object->name, "[vdso"))
		return NOISE_CLOCK;
	if (!name)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(rust_waiting); i++)
		if (name[0] == '_' && !fnmatch(rust_waiting[i], name, 0))
			return NOISE_WAITING;
	if (!fn->runtime)
		return 0;
	name += strspn(name, "_");
	/* Do not treat these functions as noise, because they call back into the program. */
	if (!strcmp(name, "pthread_once") || begins(name, "pthread_once_slow"))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++)
		if (!fnmatch(patterns[i].name, name, 0))
			return patterns[i].noise;
	return 0;
}

static bool is_syscall(const struct function *fn)
{
	static const char *const prefixes[] = {
		"__x64_sys_", "__ia32_sys_", "__ia32_compat_sys_", "__x64_compat_sys_",
	};

	if (!fn->sym->object->kernel || !fn->sym->linked)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (begins(fn->sym->linked, prefixes[i]))
			return true;
	return false;
}

void noise_classify(struct function *fn, bool all)
{
	fn->syscall = is_syscall(fn);
	fn->runtime = is_runtime(fn->sym->object->name) || begins(fn->sym->object->name, "[vdso");
	if (all)
		return;
	fn->stub = fn->sym->stub;
	fn->noise = noise_of(fn);
}

bool noise_step(const struct step *s)
{
	return is_kernel(s->from) || (is_kernel(s->to) && s->kind != BRANCH_SYSCALL);
}
