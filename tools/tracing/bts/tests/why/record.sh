#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Record system calls that the kernel refuses: record.sh DIR BTS
#
# The program DIR/refuse makes the system calls. Each line of DIR/list contains the name of a call.
# If the call fails because of an injected fault, the line also contains the failing function and
# its return value. The script needs root, and a kernel with the bts tracer and fault injection.

set -eu

dir=$1
bts=$2
work=$(mktemp -d)
chmod 777 "$work"
mount -t tmpfs none "$work"
chmod 777 "$work"

debug=/sys/kernel/debug
grep -q " $debug " /proc/mounts || mount -t debugfs none $debug
# Do not log injected faults. Also inject faults into allocations that may sleep.
echo 0 > $debug/failslab/verbose
echo 0 > $debug/fail_function/verbose
echo N > $debug/failslab/ignore-gfp-wait

# inject FUNCTION VALUE: make FUNCTION return VALUE when the kernel injects a fault into it.
inject() {
	echo "$1" > $debug/fail_function/inject
	echo "$2" > "$debug/fail_function/$1/retval"
}

record() { # NAME
	rm -rf "${work:?}"/*
	mkdir "$work/ram"
	mount -t ramfs none "$work/ram"
	(cd "$work" && exec "$bts" record -o "$dir/$1.dat" -e raw_syscalls:sys_exit -- "$dir/refuse" "$1") \
		< /dev/null > said 2>&1 || {
		cat said
		exit 1
	}
	umount "$work/mounted" "$work/busy" "$work/ram" 2> /dev/null || :
}

cd "$dir"
while read -r name function value; do
	[ -z "$function" ] || inject "$function" "$value"
	record "$name"
	[ -z "$function" ] || echo "!$function" > $debug/fail_function/inject
done < list
umount "$work"
rmdir "$work"
