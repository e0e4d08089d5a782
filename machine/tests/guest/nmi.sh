#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# guest/nmi.sh DIR: request NMIs by making a file DIR/now-N, then check that each CPU has reported
# an NMI. The output is lines of KTAP.

out=$1
cd /sys/kernel/tracing || exit
unknown() {
	dmesg | grep -c "Uhhuh. NMI received for unknown reason"
}
# nmi FILE NUMBER NAME: exactly two more NMIs must be reported.
nmi() {
	before=$(unknown)
	: > "$1"
	for _ in $(seq 50); do
		[ "$(unknown)" -lt $((before + 2)) ] || break
		sleep 0.2
	done
	sleep 0.4
	now=$(unknown)
	[ "$now" -eq $((before + 2)) ] || printf "not "
	echo "ok $2 $3: $((now - before)) unknown NMIs for two CPUs"
}
echo 0 > options/bts-kernel
echo 0 > tracing_on
echo 512 > buffer_size_kb
"$BTS_PROGS/bts_spin_a" &
spinner=$!
echo bts > current_tracer
echo "$spinner" > set_ftrace_pid
echo 1 > tracing_on
sleep 0.5
# Stop the task, so that the tracer has few records and no PMI meanwhile.
kill -STOP "$spinner"
nmi "$out/now-1" 1 "tracing, the task stopped"
kill -CONT "$spinner"
sleep 0.2
echo 0 > tracing_on
# If two NMIs come at one instruction, the kernel may mistake the second for a part of the
# first. That cannot happen while the CPU is idle.
kill -STOP "$spinner"
[ "$(sed -n "s/^interrupts: //p" bts_stats)" -gt 0 ] || printf "not "
echo "ok 2 the tracer's own interrupts came"
nmi "$out/now-2" 3 "tracing off"
kill -9 "$spinner"
echo nop > current_tracer
nmi "$out/now-3" 4 "the tracer gone"
