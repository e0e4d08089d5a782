#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Build and run the tests in reader.c and damaged.c under ASan and UBSan: check.sh [DIR [KERNEL]].
# Print KTAP. KERNEL is the kernel's source tree. The default is the tree that contains these files.

set -eu

here=$(cd -P -- "$(dirname -- "$0")" && pwd)
dir=${1:-$(mktemp -d)}
src=$here/../../src
tree=${2:-$here/../../../../..}

mkdir -p "$dir"
${CC:-gcc} -g -O1 -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -fsanitize=address,undefined \
	-fno-sanitize-recover=all -I"$src" -I"$tree/kernel/trace" -I"$tree/tools/include" \
	-o "$dir/reader.test" "$here"/*.c "$src"/file/*.c "$src"/lib/*.c \
	"$tree/kernel/trace/bts/unpack.c" -lzstd -lpthread
exec "$dir/reader.test" "$dir/reader.dat"
