#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Read large traces with little memory: size.sh DIR BTS
#
# DIR contains calls.dat, which record.sh recorded. From this trace, generate.c makes traces of
# 10,000 threads and of 10,000 processes. These tasks run one after the other. Each executes the
# branches of calls.dat, and none exits. Each command must read the traces with at most 300 MB of
# data in memory. In bts top, each count must be 10,000 times the count for calls.dat. Print KTAP.

set -u

dir=$1
bts=$2
progs=$(cd -P -- "$(dirname -- "$0")/progs" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$dir" || exit 1
many=10000
# shellcheck source=tools/tracing/bts/tests/ktap.sh
. "$progs/../../ktap.sh"
# shellcheck source=tools/tracing/bts/tests/trace/generate.sh
. "$progs/../generate.sh"

# make NAME NR VARIABLE: generate a trace in which $many tasks repeat calls.dat. If NR is not 0, use
# only the first NR branches of each CPU in calls.dat. VARIABLE is BTS_TASKS or BTS_PROCESSES.
make() {
	env "BTS_FIRST=$2" "$3=$many" "$work/generate" calls.dat "$work/$1.dat" $many packs zstd &&
		ln -sfn "$dir/calls.dat.archive" "$work/$1.dat.archive"
}

# small COMMAND...: run bts with at most 300 MB of data in memory.
small() {
	prlimit --data=314572800 "$bts" "$@" >"$work/text" 2>"$work/said" && return
	# The status of bts diff is 1 if the runs differ.
	[ $? -eq 1 ] && [ "$1" = diff ] && ! grep -q '^bts: ' "$work/said" && return
	echo "# bts $*: $(tail -n 1 "$work/said")"
	return 1
}

# Some commands read NAME-part.dat, because their whole output would have 140 million lines.
commands() {
	trace=$work/$1.dat
	part=$work/$1-part.dat
	small info "$trace" && small top "$trace" && small graph main "$trace" &&
		small cover -f pcs "$trace" && small replay "$part" &&
		small report "$part" && small diff "$part" "$part" || return 1
	for format in folded flame callgrind bolt; do
		small dump -f "$format" -o "$work/out" "$trace" || return 1
	done
	for format in chrome perfetto csv json perf; do
		small dump -f "$format" -o "$work/out" "$part" || return 1
	done
}

# counts TRACE FACTOR: print the counts of each function, multiplied by FACTOR.
counts() {
	"$bts" top --json -n 0 "$1" 2>/dev/null | python3 -c '
import json, sys
for row in map(json.loads, sys.stdin):
    if "function" in row:
        print(row["function"], row["dso"],
              *(int(sys.argv[1]) * row[key] for key in ("instructions", "branches", "calls")))
' "$2" | sort
}

same_counts() {
	counts calls.dat "$many" >"$work/wanted"
	for trace; do
		counts "$work/$trace.dat" 1 | cmp - "$work/wanted" && [ -s "$work/wanted" ] || return 1
	done
}

# seconds COMMAND...: print the CPU time of COMMAND in seconds.
seconds() {
	/usr/bin/time -f "%U %S" -o "$work/time" "$@" >/dev/null 2>&1
	awk '{ print $1 + $2 }' "$work/time"
}

# For processes that run the same file, bts decodes the file's code only once. Therefore, reading a
# trace of processes must take at most twice as long as reading a trace of threads.
same_speed() {
	threads=$(seconds "$bts" top "$work/threads.dat")
	processes=$(seconds "$bts" top "$work/processes.dat")
	echo "# bts top: $threads s with threads, $processes s with processes"
	awk -v a="$threads" -v b="$processes" 'BEGIN { exit !(a > 0 && b > 0 && b <= 2 * a) }'
}

echo "TAP version 13"
build_generate && make threads 0 BTS_TASKS && make processes 0 BTS_PROCESSES &&
	make threads-part 100 BTS_TASKS && make processes-part 100 BTS_PROCESSES || exit 1
commands threads
result $? "with 300 MB of memory, each command reads a trace of 10,000 threads"
commands processes
result $? "with 300 MB of memory, each command reads a trace of 10,000 processes"
same_counts threads processes
result $? "bts top: each count is 10,000 times the count for calls.dat"
same_speed
result $? "a trace of processes is read nearly as fast as a trace of threads"
echo "1..$n"
exit $failed
