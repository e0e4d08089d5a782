#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# guest/oops.sh: trace a shell in two instances, and kill the shell with an oops. For each instance,
# print how the trace ends, and how many branches the instance records after it is switched on
# again.

set -e

echo 0 > /proc/sys/kernel/panic_on_oops
cd /sys/kernel/tracing
mkdir instances/other
for dir in . instances/other; do
	echo bts > $dir/current_tracer
	echo 0 > $dir/tracing_on
	echo > $dir/trace
done
# shellcheck disable=SC2016 # the inner shell expands $$
sh -c '
	for dir in . instances/other; do
		echo $$ > $dir/set_ftrace_pid
		echo 1 > $dir/tracing_on
	done
	echo EXCEPTION > /sys/kernel/debug/provoke-crash/DIRECT
' || :
for dir in . instances/other; do
	echo "on $(cat $dir/tracing_on)"
	tail -n 4000 $dir/trace | awk '
		/lkdtm_EXCEPTION.* -> asm_exc_page_fault/ { at = NR; way = $0 }
		END {
			print at ? "ends " NR - at " after:" way : "ends elsewhere"
			print "last:" $0
		}
	'
	echo $$ > $dir/set_ftrace_pid
	echo > $dir/trace
	echo 1 > $dir/tracing_on
	: < /dev/null
	echo 0 > $dir/tracing_on
	echo "again $(grep -c -e "->" $dir/trace)"
done
