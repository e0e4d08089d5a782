# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
#
# Source this file to define build_generate, which builds the program $work/generate if it does not
# exist. The program copies a trace, and repeats or leaves out branches. The variable $progs must
# contain the path of tests/trace/progs. The script machine/bench/tool sources this file, too.

# shellcheck disable=SC2154 # the caller has set $progs and $work
build_generate() {
	[ ! -x "$work/generate" ] || return 0
	tree=$(cd -P -- "$progs/../../../../../.." && pwd)
	src=$tree/tools/tracing/bts/src
	kernel=$tree/kernel/trace
	gcc -O2 -std=gnu11 -D_GNU_SOURCE -I"$progs/../../../kernel" -I"$src" \
		-I"$kernel" -I"$tree/tools/include" -o "$work/generate" \
		"$progs/../generate.c" "$src"/file/*.c "$src"/lib/*.c \
		"$kernel/bts/pack.c" "$kernel/bts/unpack.c" \
		-lzstd -lpthread
}
