#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# guest/perf-rate.sh DIR HERTZ PROGRAMS: sample the program bts_work HERTZ times a second with perf,
# first without a tracer and then with bts. Write the samples and the counters of bts to DIR.

set -e

cd /sys/kernel/tracing
echo 0 > tracing_on
echo 400000 > buffer_size_kb
for tracer in nop bts; do
	echo $tracer > current_tracer
	# Write the samples to memory, because writing to the host would cause task switches.
	perf record -q -e cycles -F "$2" -o /tmp/data -- "$3/bts_launch" "$3/bts_work" > /dev/null
	perf script -i /tmp/data -F comm,time > "$1/$tracer"
done
cat bts_stats per_cpu/cpu0/stats > "$1/stats"
dmesg > "$1/dmesg"
echo nop > current_tracer
