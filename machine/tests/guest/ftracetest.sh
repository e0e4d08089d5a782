#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# guest/ftracetest.sh all|few LOGS SHELL FTRACETEST CASE...: run ftracetest, and print KTAP. An
# unsupported or unresolved case counts as failed. Logs are in memory, where writing a line takes
# no time. ftracetest removes the logs of passed cases; the other logs are copied to LOGS.

events=$1
logs=$2
shell=$3
shift 3

# ftracetest resets ftrace before and after each case, and to do so opens the files of all events,
# some 3,000. That takes seconds, or minutes with the debug kernel. So ftracetest sees only the
# events that our cases use.
few_events() {
	for dir in ftrace bts msr nmi sched syscalls/sys_enter_getppid; do
		[ -d /sys/kernel/tracing/events/$dir ] || continue
		mkdir -p /run/events/$dir
		mount --bind /sys/kernel/tracing/events/$dir /run/events/$dir
	done
	for file in enable header_event header_page; do
		touch /run/events/$file
		mount --bind /sys/kernel/tracing/events/$file /run/events/$file
	done
	mount --rbind /run/events /sys/kernel/tracing/events
	# The warning that an NMI took longer than a millisecond is printed inside that NMI, and would
	# fill the DS buffer.
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
