#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# guest/nmi.sh DIR: create the files DIR/now-1 to DIR/now-3. When a file appears, the host sends one
# NMI to each CPU, and the kernel must report each NMI as unknown. The output consists of KTAP
# results.

out=$1
cd /sys/kernel/tracing || exit
unknown() {
	dmesg | grep -c "Uhhuh. NMI received for unknown reason"
}
# nmi FILE NUMBER NAME: create FILE, and check that the kernel then reports exactly two unknown
# NMIs. Print the KTAP result with this NUMBER and NAME.
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
# Stop the task, so that the CPUs store few records and raise no PMI during the next test.
kill -STOP "$spinner"
nmi "$out/now-1" 1 "tracing is on, the task is stopped"
kill -CONT "$spinner"
sleep 0.2
echo 0 > tracing_on
# The kernel may ignore an NMI that interrupts the same instruction as the previous NMI. When a CPU
# becomes idle, the kernel forgets the previous NMI. So stop the task that keeps the CPU busy.
kill -STOP "$spinner"
[ "$(sed -n "s/^interrupts: //p" bts_stats)" -gt 0 ] || printf "not "
echo "ok 2 bts_stats shows that interrupts have occurred"
nmi "$out/now-2" 3 "tracing is off"
kill -9 "$spinner"
echo nop > current_tracer
nmi "$out/now-3" 4 "nop is the tracer"
