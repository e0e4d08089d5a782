#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Builds and runs kcore.c under ASan and UBSan: check.sh [DIR]. KTAP.

set -eu

here=$(cd -P -- "$(dirname -- "$0")" && pwd)
dir=${1:-$(mktemp -d)}
src=$here/../../src

mkdir -p "$dir"
# shellcheck disable=SC2046 # flags
${CC:-gcc} -g -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -fsanitize=address,undefined -I"$src" \
	-o "$dir/kcore.test" "$here/kcore.c" "$src/symbols/archive.c" "$src/record/instance.c" \
	"$src/record/undo.c" "$src/lib/msg.c" "$src/lib/names.c" $(pkg-config --cflags --libs libtracefs libtraceevent)
exec "$dir/kcore.test" "$dir"
