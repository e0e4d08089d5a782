#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# guest/perf-precise.sh DIR CYCLES BRANCHES PROGRAM [ARG...]: record PROGRAM in user mode with
# perf's precise samples (PEBS), first with a period of CYCLES cycles and then with a period of
# BRANCHES branches. If the kernel contains bts, repeat both recordings while bts traces PROGRAM's
# user branches. Write the samples, the traces and the counters of bts to DIR.

set -e

dir=$1
cycles=$2
branches=$3
shift 3

sample() { # TRACER EVENT PERIOD PROGRAM [ARG...]
	samples=$dir/$1.$2
	echo "$1" > current_tracer
	perf record -q -e "$2" -c "$3" -o /tmp/data -- sh -c '
		echo $$ > set_ftrace_pid
		shift 3
		exec "$@"
	' sh "$@"
	cat trace > "$samples.trace"
	[ "$1" = nop ] || cat bts_stats > "$samples.stats"
	echo nop > current_tracer
	perf script -i /tmp/data -F comm,ip > "$samples"
}

cd /sys/kernel/tracing
echo 40000 > buffer_size_kb
tracers=nop
if grep -qw bts available_tracers; then
	tracers="nop bts"
	echo 0 > options/bts-kernel
	echo 0 > options/bts-map
fi
for tracer in $tracers; do
	sample "$tracer" cycles:pu "$cycles" "$@"
	sample "$tracer" branches:pu "$branches" "$@"
done
