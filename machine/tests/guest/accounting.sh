#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# guest/accounting.sh: trace three programs, then trace all tasks for a moment, then print
# bts_stats.

set -e

cd /sys/kernel/tracing
echo 0 > tracing_on
echo 20000 > buffer_size_kb
echo bts > current_tracer
for program in bts_fault bts_busy bts_million; do
	echo > trace
	"$BTS_PROGS/bts_launch" "$BTS_PROGS/$program" > /dev/null
done
echo > set_ftrace_pid
echo 1 > tracing_on
cat /proc/self/stat > /dev/null
echo 0 > tracing_on
cat bts_stats
echo nop > current_tracer
