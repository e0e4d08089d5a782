#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# guest/ftracetest.sh all|few LOGS SHELL FTRACETEST CASE...: run ftracetest, and print KTAP. An
# unsupported or unresolved test case counts as failed. The script keeps the logs in memory, because
# writing to the host is slow. If a test case fails, the script copies the logs to LOGS.

events=$1
logs=$2
shell=$3
shift 3

# Hide all events that our test cases do not use. Before and after each test case, ftracetest opens
# the files of all visible events. With all 3,000 events, this would take seconds, or minutes with
# the debug kernel.
few_events() {
	for dir in ftrace bts msr nmi sched syscalls/sys_enter_getpid syscalls/sys_enter_getppid; do
		[ -d /sys/kernel/tracing/events/$dir ] || continue
		mkdir -p /run/events/$dir
		mount --bind /sys/kernel/tracing/events/$dir /run/events/$dir
	done
	for file in enable header_event header_page; do
		touch /run/events/$file
		mount --bind /sys/kernel/tracing/events/$file /run/events/$file
	done
	mount --rbind /run/events /sys/kernel/tracing/events
	# Suppress the warning that an NMI took longer than a millisecond. The kernel prints this
	# warning in the NMI handler, and the branches of printk() would fill the DS buffer.
	echo 1000000000 > /sys/kernel/debug/x86/nmi_longest_ns
}

[ "$events" = all ] || few_events || exit
ftracetest=$1
shift
# shellcheck disable=SC2086 # split the shell and its applet
$shell "$ftracetest" --ktap --fail-unsupported --fail-unresolved -l /tmp/logs "$@"
status=$?
if [ "$status" -ne 0 ]; then
	mkdir -p "$logs"
	cp /tmp/logs/* "$logs"
fi
exit $status
