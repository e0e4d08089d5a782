#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Build fred.c with the static library LIBBTS, and run it: check.sh DIR LIBBTS. Print KTAP.

set -eu

here=$(cd -P -- "$(dirname -- "$0")" && pwd)
dir=$1

${CC:-gcc} -g -O1 -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -I"$here/../../src" \
	-I"$here/../../../../include" -o "$dir/fred.test" "$here/fred.c" "$2" \
	-ldw -lelf -lzstd -liberty -lpthread
exec "$dir/fred.test"
