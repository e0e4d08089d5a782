#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# guest/perf-rate.sh DIR HERTZ PROGRAMS: has perf sample bts_work HERTZ times a second, with no
# tracer and with bts. The samples and what was counted go to DIR.

set -e

cd /sys/kernel/tracing
echo 0 > tracing_on
echo 400000 > buffer_size_kb
for tracer in nop bts; do
	echo $tracer > current_tracer
	# To memory: writing to the host's directory would switch tasks during the program.
	perf record -q -e cycles -F "$2" -o /tmp/data -- "$3/bts_launch" "$3/bts_work" > /dev/null
	perf script -i /tmp/data -F comm,time > "$1/$tracer"
done
cat bts_stats per_cpu/cpu0/stats > "$1/stats"
dmesg > "$1/dmesg"
echo nop > current_tracer
