#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# guest/crash.sh panic|circular|stack: trace this shell, and crash the machine. With "circular",
# trace all tasks, and keep CPU 1 busy with a spinning program.

cd /sys/kernel/tracing || exit
echo 0 > tracing_on
echo 8 > buffer_size_kb
echo $$ > /tmp/targets
case $1 in
circular)
	echo 1 > options/bts-circular
	taskset -c 1 "$BTS_PROGS/bts_spin_a" &
	echo $! >> /tmp/targets
	until grep -q bts_spin "/proc/$!/comm"; do :; done
	taskset -p -c 0 $$
	;;
stack)
	echo 256 > buffer_size_kb
	;;
esac
echo bts > current_tracer
[ "$1" = circular ] || cat /tmp/targets > set_ftrace_pid
echo 1 > tracing_on

# Wait until the CPU time of each target has grown, so that each target has run with tracing on. Add
# user and system time, because a timer tick during a return to user space counts as system time.
ticks() { # PID
	# shellcheck disable=SC2046 # words
	set -- $(cat "/proc/$1/stat")
	echo $((${14} + ${15}))
}
while read -r task; do
	before=$(ticks "$task")
	while [ "$(ticks "$task")" = "$before" ]; do :; done
done < /tmp/targets

case $1 in
stack) echo EXHAUST_STACK > /sys/kernel/debug/provoke-crash/DIRECT ;;
*) echo c > /proc/sysrq-trigger ;;
esac
