# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
#
# Source this file to define build_generate, which builds the program $work/generate, unless the
# program exists. The program repeats the branches of a trace, or leaves some of them out. The
# variable $progs must contain the path of tests/trace/progs. The script machine/bench/tool uses this
# file, too.

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
