#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Builds and runs trust.c under ASan and UBSan: check.sh [DIR]. KTAP.

set -eu

here=$(cd -P -- "$(dirname -- "$0")" && pwd)
dir=${1:-$(mktemp -d)}
src=$here/../../src

mkdir -p "$dir"
# shellcheck disable=SC2046 # flags
${CC:-gcc} -g -std=gnu11 -D_GNU_SOURCE -DVERSION='"test"' -Wall -Wextra \
	-fsanitize=address,undefined -I"$src" -I"$src/../include" \
	$(pkg-config --cflags libtracefs) -o "$dir/trust.test" "$here/trust.c" \
	"$src/record/writer.c" "$src/record/undo.c" "$src/symbols/vdso.c" "$src/symbols/vdso32.c" \
	"$src"/lib/*.c -lzstd
exec "$dir/trust.test" "$dir/trust"
