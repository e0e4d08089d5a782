#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Record system calls that the kernel refuses: record.sh DIR BTS
#
# DIR/refuse makes the calls, and DIR/list names them, one per line. Needs root, and a kernel with
# the bts tracer.

set -eu

dir=$1
bts=$2
work=$(mktemp -d)
chmod 777 "$work"
mount -t tmpfs none "$work"
chmod 777 "$work"

record() { # NAME
	rm -rf "${work:?}"/*
	(cd "$work" && exec "$bts" record -o "$dir/$1.dat" -e raw_syscalls:sys_exit -- "$dir/refuse" "$1") \
		< /dev/null > said 2>&1 || {
		cat said
		exit 1
	}
	umount "$work/mounted" "$work/busy" 2> /dev/null || :
}

cd "$dir"
while read -r name; do
	record "$name"
done < list
umount "$work"
rmdir "$work"
