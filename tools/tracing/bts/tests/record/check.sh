#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Test recordings: check.sh [DIR [BTS [KERNEL]]]. Print KTAP. Build and run trust.c under ASan and
# UBSan. With output.py, check what BTS prints for the trace that odd.c writes. With killed.py,
# check that BTS restores a trace whose writer was killed. With deep.py, let BTS read traces
# with deeply nested calls. KERNEL is a source tree of the kernel, by default the tree of check.sh.

set -eu

here=$(cd -P -- "$(dirname -- "$0")" && pwd)
dir=${1:-$(mktemp -d)}
bts=${2:-bts}
src=$here/../../src
tree=${3:-$here/../../../../..}

# build PROGRAM FILE... FLAG...
build() {
	out=$1
	shift
	# shellcheck disable=SC2046 # flags
	${CC:-gcc} -g -std=gnu11 -D_GNU_SOURCE -DVERSION='"test"' -Wall -Wextra \
		-Wno-missing-field-initializers -fsanitize=address,undefined -I"$src" \
		-I"$src/../include" -I"$src/../kernel" -I"$tree/kernel/trace" -I"$tree/tools/include" \
		$(pkg-config --cflags libtracefs) -o "$dir/$out" "$@" "$src"/record/writer*.c \
		"$src/symbols/vdso.c" "$src/symbols/vdso32.c" "$src"/lib/*.c -lzstd
}

mkdir -p "$dir"
build trust.test "$here/trust.c" "$src/record/undo.c" &
build odd "$here/odd.c" "$src/record/pages.c" "$src/record/made_formats.c" \
	"$src/symbols/archive.c" "$tree/kernel/trace/bts/pack.c"
wait $!
build killed "$here/killed.c" "$src/record/pages.c" "$src/record/made_formats.c" \
	"$tree/kernel/trace/bts/pack.c" -Wl,--wrap=write
status=0
"$dir/trust.test" "$dir/trust" || status=1
rm -f "$dir/odd.dat"
rm -f "$dir/odd-3.dat"
"$dir/odd" "$dir/odd.dat"
ODD_CALLS=3 "$dir/odd" "$dir/odd-3.dat"
rm -f "$dir/odd-gdb.dat"
ODD_GDB=/proc/self/exe "$dir/odd" "$dir/odd-gdb.dat"
rm -f "$dir/odd-stacks.dat"
ODD_STACKS=10000 "$dir/odd" "$dir/odd-stacks.dat"
python3 "$here/output.py" "$bts" "$dir/odd.dat" "$dir/odd" || status=1
python3 "$here/killed.py" "$bts" "$dir/killed" "$dir" || status=1
python3 "$here/deep.py" "$bts" "$dir/deep.dat" || status=1
exit $status
