# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
#
# To be sourced: build_generate builds $work/generate, the program that leaves parts of a
# trace out. $progs is tests/trace/progs.

# shellcheck disable=SC2154 # the caller has set $progs and $work
build_generate() {
	tree=$(cd -P -- "$progs/../../../../../.." && pwd)
	src=$tree/tools/tracing/bts/src
	kernel=$tree/kernel/trace
	gcc -O1 -std=gnu11 -D_GNU_SOURCE -DHAVE_BTS_UNPACK -I"$progs/../../pack/include" \
		-I"$src" -I"$kernel" -I"$tree/tools/include" -o "$work/generate" \
		"$progs/../generate.c" "$src/file"/dat_*.c "$src/file/decode.c" \
		"$src/file/cpu_reader.c" "$src/file/format.c" "$src/lib/msg.c" \
		"$kernel/bts/pack.c" "$kernel/bts/unpack.c" \
		-lzstd -lpthread
}
