#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# guest/perf-precise.sh DIR CYCLES BRANCHES PROGRAM [ARG...]: perf takes precise samples (PEBS) of
# PROGRAM every CYCLES cycles and every BRANCHES branches, in user mode, without a tracer and, if
# this kernel has bts, beside a trace of its user branches. The samples, and the rows and the
# counters of the traces, go to DIR.

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
