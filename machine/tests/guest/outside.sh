#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# guest/outside.sh DIR: cooperate with parts/outside, which runs on the host. At each step N, create
# the file DIR/now-N, and wait until parts/outside has created the file DIR/go-N.

out=$1
cd /sys/kernel/tracing || exit
taskset -p 1 $$ > /dev/null	# this shell runs on CPU 0, the spinner on CPU 1
step() { # N
	: > "$out/now-$1"
	until [ -e "$out/go-$1" ]; do
		sleep 0.05
	done
}
echo 2048 > buffer_size_kb
"$BTS_PROGS/bts_spin_a" &
spinner=$!
taskset -p 2 "$spinner" > /dev/null
echo "$spinner" > set_ftrace_pid

# Make the DS buffer circular, so that it is full of branches when parts/outside reads it at step 1.
echo 1 > options/bts-circular
echo bts > current_tracer
sleep 0.1
step 1
echo 0 > tracing_on
step 2

# While perf counts an event, the kernel keeps the DS buffers even after the tracer has stopped.
perf stat -a -e cycles -o /dev/null -- sleep 10000 &
stat=$!
until readlink "/proc/$stat/fd/"* | grep -q perf_event; do
	sleep 0.05
done
echo 0 > options/bts-circular
echo 1 > tracing_on
sleep 0.1
echo nop > current_tracer
step 3
kill "$stat"

# At step 4, parts/outside injects a machine check. Make the DS buffer circular, so that no
# threshold interrupt drains the buffer before the machine check. Filter out all branches.
# Otherwise, if the host is slow, rows of branches might overwrite the row of the machine check.
echo 1 > options/bts-circular
echo 'from == 0' > events/ftrace/bts_branch/filter
echo 0 > options/bts-kernel
echo bts > current_tracer
echo > trace
echo 1 > tracing_on
sleep 0.1
step 4
sleep 0.1
cat trace > "$out/trace"
cat bts_stats > "$out/stats"
echo 0 > events/ftrace/bts_branch/filter
sleep 0.1
cat trace > "$out/later"
echo 0 > tracing_on
kill -9 "$spinner"
: > "$out/now-5"
