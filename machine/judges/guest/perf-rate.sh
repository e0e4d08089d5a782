#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# guest/perf-rate.sh DIR HERTZ PROGRAMS: let perf sample bts_work HERTZ times a second, without a
# tracer and with bts. The samples and the counters go to DIR.

set -e

cd /sys/kernel/tracing
echo 0 > tracing_on
echo 400000 > buffer_size_kb
for tracer in nop bts; do
	echo $tracer > current_tracer
	# Write to memory: writing to the host would switch tasks while the program runs.
	perf record -q -e cycles -F "$2" -o /tmp/data -- "$3/bts_launch" "$3/bts_work" > /dev/null
	perf script -i /tmp/data -F comm,time > "$1/$tracer"
done
cat bts_stats per_cpu/cpu0/stats > "$1/stats"
dmesg > "$1/dmesg"
echo nop > current_tracer
