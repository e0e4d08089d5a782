#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Build and run kcore.c under ASan and UBSan: check.sh [DIR]. Print KTAP.

set -eu

here=$(cd -P -- "$(dirname -- "$0")" && pwd)
dir=${1:-$(mktemp -d)}
src=$here/../../src

mkdir -p "$dir"
${CC:-gcc} -g -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -fsanitize=address,undefined -I"$src" \
	-o "$dir/kcore.test" "$here/kcore.c" "$src/symbols/archive.c" "$src/symbols/vdso.c" \
	"$src/symbols/vdso32.c" "$src/lib/mem.c" "$src/lib/msg.c" "$src/lib/names.c" "$src/lib/path.c"
exec "$dir/kcore.test" "$dir"
