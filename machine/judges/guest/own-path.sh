#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# guest/own-path.sh DIR: trace all tasks while this shell runs a workload, and write to DIR the
# files that judges/own-path reads. After this script has printed "ready", the judge switches the
# emulator's log on, and then sends a line to this script.

set -e

cd /sys/kernel/tracing
echo 0 > tracing_on
echo 40000 > buffer_size_kb
echo 0 > options/bts-map
echo bts > current_tracer
grep -E ' (_*bts_|ds_|asm_exc_nmi|__entry_text_)' /proc/kallsyms > "$1/symbols"
cp events/ftrace/bts_branch/format "$1/format"
echo ready
read -r _
echo 1 > tracing_on
for i in 1 2; do
	(exit 3) || kill -0 $$
	while read -r _; do n=$i; done < /proc/self/maps
	echo "$n" > /tmp/file
done
echo 0 > tracing_on
cat bts_stats > "$1/stats"
dd if=per_cpu/cpu0/trace_pipe_raw of="$1/pages" bs=4096 iflag=nonblock 2> "$1/dd" || :
echo nop > current_tracer
