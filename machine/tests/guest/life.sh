#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# machine/tests/guest/life.sh WHAT: trace branches while CPUs come online and go offline. The output
# is KTAP.
#
#	online    the guest starts with maxcpus=1; CPU 1 comes online while bts is the tracer
#	suspend   the guest suspends to RAM, and parts/suspend wakes the guest
#
# BTS_PROGS is the directory with the programs of the selftests, and BTS_ACCOUNT is the path of the
# selftests' account.awk.

set -u

tests=0
cd /sys/kernel/tracing || exit 1

result() { # STATUS NAME
	tests=$((tests + 1))
	[ "$1" -eq 0 ] || printf 'not '
	echo "ok $tests $2"
}

check() { # NAME COMMAND...
	name=$1
	shift
	"$@"
	result $? "$name"
}

stat() { # NAME [CPU]
	sed -n "s/^$1: //p" "${2:+per_cpu/cpu$2/}bts_stats"
}

# Count the backward jumps of the only loop in bts_loop. A complete trace contains 999 such jumps.
loops() {
	awk -v at="$back" '$4 == at && $5 !~ /^f/ { n++ } END { print n + 0 }' trace
}

exact_on() { # CPU
	echo 0 > tracing_on
	echo > trace
	# The argument of taskset is a mask, in which 1 is CPU 0 and 2 is CPU 1.
	sh -c 'echo $$ > set_ftrace_pid; echo 1 > tracing_on; exec taskset "$0" "$1"' \
		$(($1 + 1)) "$BTS_PROGS/bts_loop"
	echo 0 > tracing_on
	echo "# CPU $1: $(loops) times"
	[ "$(loops)" -eq 999 ]
}

balanced() {
	awk -f "$BTS_ACCOUNT" -v least=1 bts_stats
}

online() {
	echo 0 > options/bts-kernel
	echo bts > current_tracer
	check "one CPU is online" [ "$(cat /sys/devices/system/cpu/online)" = 0 ]
	check "the trace of bts_loop on CPU 0 has all 999 backward jumps" exact_on 0
	# The emulated CPU model has the erratum AAJ122, which the kernel must report.
	check "the model's erratum is reported once" [ "$(dmesg | grep -c 'erratum AAJ122')" -eq 1 ]
	check "Meltdown is reported once" [ "$(dmesg | grep -c 'x86/ds: this CPU has Meltdown')" -eq 1 ]
	echo > set_ftrace_pid
	echo 1 > tracing_on
	check "one CPU records" [ "$(stat cpus_recording)" -eq 1 ]
	echo 1 > /sys/devices/system/cpu/cpu1/online
	check "CPU 1 starts to record automatically" [ "$(stat cpus_recording)" -eq 2 ]
	check "the trace of bts_loop on CPU 1 has all 999 backward jumps" exact_on 1
	echo > set_ftrace_pid
	echo 1 > tracing_on
	echo 0 > /sys/devices/system/cpu/cpu1/online
	check "CPU 1 is offline, and no longer records" [ "$(stat cpus_recording)" -eq 1 ]
	# Since Linux 6.5, CPU 0 cannot go offline on x86.
	if [ -e /sys/devices/system/cpu/cpu0/online ]; then
		echo 1 > /sys/devices/system/cpu/cpu1/online
		echo 0 > /sys/devices/system/cpu/cpu0/online
		check "CPU 0 is offline, and CPU 1 records" [ "$(stat cpus_recording)" -eq 1 ]
		echo 1 > /sys/devices/system/cpu/cpu0/online
	else
		check "CPU 0 still records" [ "$(stat cpus_recording 0)" -eq 1 ]
	fi
	echo 0 > tracing_on
	check "each record is accounted for" balanced
	echo nop > current_tracer
	echo 0 > /sys/devices/system/cpu/cpu1/online
	check "bts record sleeps while CPU 1 is offline" tool_sleeps
	check "bts record reads branches of a CPU that comes online during the recording" tool_reads
}

# A ring buffer that is created while CPU 1 is offline has no pages for CPU 1. Check that bts record
# does not poll such a ring buffer: in 2 s, the tool must use less than 0.5 s of CPU time.
tool_sleeps() {
	bts record -u -o /tmp/late.dat -- sleep 3 &
	sleep 2
	ticks=$(awk '{ print $14 + $15 }' "/proc/$!/stat")
	echo "# $ticks ticks of CPU time"
	wait $!
	[ "$ticks" -lt $(($(getconf CLK_TCK) / 2)) ]
}

# shellcheck disable=SC2016 # the inner shell expands $0
tool_reads() {
	bts record -u -m 64k -o /tmp/late.dat -- sh -c '
		echo 1 > /sys/devices/system/cpu/cpu1/online
		exec taskset 2 "$0"' "$BTS_PROGS/bts_million" || return
	bts info /tmp/late.dat > /tmp/late
	grep '^cpu  *1: [0-9,]* bytes' /tmp/late && grep '^1,[0-9,]* branches.*nothing lost' /tmp/late
}

to_ram() {
	before=$(cat /sys/power/suspend_stats/success)
	echo mem > /sys/power/state
	[ "$(cat /sys/power/suspend_stats/success)" -eq $((before + 1)) ]
}

# Check, without a write to tracefs, that the tracer reads new records on both CPUs.
grow() {
	for cpu in 0 1; do
		before=$(stat records $cpu)
		polls=0
		until [ "$(stat records $cpu)" -gt "$before" ]; do
			polls=$((polls + 1))
			[ $polls -lt 100 ] || return 1
			sleep 0.1
		done
	done
}

suspend() {
	echo deep > /sys/power/mem_sleep
	echo 0 > tracing_on
	taskset 1 "$BTS_PROGS/bts_spin_a" &
	a=$!
	taskset 2 "$BTS_PROGS/bts_spin_b" &
	b=$!

	# Trace this shell, too, so that CPU 0, on which the shell runs, has records to drain.
	for mode in "threshold" "flight recorder"; do
		[ "$mode" = threshold ] || echo 1 > options/bts-circular
		echo 1 > options/bts-kernel
		echo nop > current_tracer
		echo bts > current_tracer
		echo $a $b $$ > set_ftrace_pid
		echo 1 > tracing_on
		check "$mode: both CPUs record" grow
		check "$mode: suspend to RAM" to_ram
		check "$mode: both CPUs record again" grow
		check "$mode: CPU 0 was drained before the suspend" [ "$(stat drains_offline 0)" -gt 0 ]
		echo 0 > tracing_on
		check "$mode: each record is accounted for" balanced
	done
	echo 0 > options/bts-circular
	echo 0 > options/bts-kernel
	for cpu in 0 1; do
		check "the trace of bts_loop on CPU $cpu has all 999 backward jumps" exact_on $cpu
	done

	echo nop > current_tracer
	check "suspend to RAM without a tracer" to_ram
	check "no CPU records" [ "$(stat cpus_recording)" -eq 0 ]
}

echo "TAP version 13"
echo 1 > options/raw
back=$(sed -n 2p "$BTS_PROGS/bts_loop.expect" | cut -d ' ' -f 2)
case ${1:-} in
online | suspend) "$1" ;;
*) exit 2 ;;
esac
echo "1..$tests"
