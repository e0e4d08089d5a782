#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What others say about the programs that record.sh has recorded: judge.sh DIR BTS
#
# valgrind counts the instructions of each function, gcov those of each line, while the
# programs run again, here. callgrind_annotate, genhtml and a JSON parser open what is
# dumped. KTAP.

set -u

dir=$1
bts=$2
progs=$(cd -P -- "$(dirname -- "$0")/progs" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$dir" || exit 1
n=0
failed=0

# result STATUS NAME
result() {
	n=$((n + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $n $2"
	elif [ "$1" -eq 4 ]; then
		echo "ok $n $2 # SKIP $3"
	else
		echo "not ok $n $2"
		failed=1
	fi
}

has() {
	command -v "$1" >/dev/null
}

# Instructions of each function of a program by valgrind, recursion put together.
callgrind_counts() {
	valgrind --tool=callgrind --skip-plt=no --compress-strings=no --compress-pos=no \
		--callgrind-out-file="$work/cg" "$@" >/dev/null 2>&1 || return 1
	awk -v prog="$(basename "$1")" '
		/^ob=/ { object = $0; sub(/.*\//, "", object) }
		/^fn=/ { fn = substr($0, 4); sub(/\x27[0-9]+$/, "", fn) }
		/^calls=/ { getline; next }
		/^[0-9]/ && object == prog { count[fn] += $2 }
		END { for (f in count) print f, count[f] }' "$work/cg" | sort
}

bts_counts() {
	"$bts" top --json -n 0 --dso "$2" "$1" | python3 -c '
import json, sys
for line in sys.stdin:
    row = json.loads(line)
    if "function" in row and row["function"].endswith("(%s)" % sys.argv[1]):
        print(row["function"].split("  (")[0].split("(")[0], row["instructions"])' "$2" |
		sort
}

# own_functions PROGRAM: those of its source, not of the C library'"'"'s start.
own_functions() {
	nm -C --defined-only "$1" | awk '$2 ~ /[tT]/ { sub(/\(.*/, "", $3); print $3 }' |
		grep -v '^_\|^frame_dummy\|^register_tm\|^deregister_tm' | sort -u
}

judge_callgrind() {
	prog=$1
	shift
	callgrind_counts "./$prog" "$@" >"$work/theirs"
	bts_counts "$prog.dat" "$prog" >"$work/ours"
	own_functions "$prog" >"$work/own"
	sed 's/(.*) / /' "$work/theirs" | sort | join - "$work/own" >"$work/a"
	join "$work/ours" "$work/own" >"$work/b"
	[ -s "$work/a" ] && diff "$work/a" "$work/b" | sed 's/^/# /' && cmp -s "$work/a" "$work/b"
}

judge_gcov() {
	(cd "$work" && gcc -O0 -g --coverage -o instrumented "$progs/calls.c" &&
	 ./instrumented 8 >/dev/null && gcov -t instrumented-calls.gcda 2>/dev/null) |
		awk -F: '{ gsub(/[ *]/, "", $1); gsub(/ /, "", $2)
			   if ($1 == "#####") $1 = 0
			   if ($1 ~ /^[0-9]+$/) print $2, $1 }' | sort >"$work/theirs"
	"$bts" cover -f lcov --dso calls-O0 -o "$work/info" calls-O0.dat >/dev/null &&
		sed -n 's/^DA:\([0-9]*\),/\1 /p' "$work/info" | sort >"$work/ours"
	# gcov has a function at its name, the debug information at its braces.
	join "$work/theirs" "$work/ours" | awk '
		$2 != $3 { print "# line " $1 ": gcov " $2 ", bts " $3; bad = 1 }
		END { exit bad || NR < 30 }'
}

judge_genhtml() {
	genhtml -q --branch-coverage -o "$work/html" "$work/info" >"$work/log" 2>&1 &&
		[ -s "$work/html/index.html" ]
}

# Instructions in all, as bts top has them.
total() {
	"$bts" top -n 0 --json "$1" | sed -n 's/.*"instructions":\([0-9]*\).*/\1/p' |
		awk '{ n += $1 } END { print n }'
}

judge_annotate() {
	"$bts" dump -f callgrind -o "$work/out" calls.dat >/dev/null &&
		callgrind_annotate "$work/out" >"$work/text" 2>"$work/log" || return 1
	[ -s "$work/log" ] && return 1
	[ "$(awk '/PROGRAM TOTALS/ { gsub(",", "", $1); print $1 }' "$work/text")" = \
	  "$(total calls.dat)" ]
}

judge_folded() {
	"$bts" dump -f folded calls.dat 2>/dev/null >"$work/folded" &&
		[ "$(awk '{ n += $NF } END { print n }' "$work/folded")" = "$(total calls.dat)" ] &&
		grep -q ';main;choose;apply;mul ' "$work/folded"
}

judge_chrome() {
	for trace in calls throws loads; do
		"$bts" dump -f chrome -o "$work/json" "$trace.dat" >/dev/null &&
			python3 - "$work/json" <<-'PYTHON' || return 1
			import collections, json, sys

			last = collections.defaultdict(list)
			for e in json.load(open(sys.argv[1]))["traceEvents"]:
			    if e["ph"] == "X":
			        ns = [round(1000 * e[key]) for key in ("ts", "dur")]
			        last[e["tid"]].append((ns[0], -ns[1]))
			# Calls of a task lie within each other, or beside each other.
			for events in last.values():
			    stack = []
			    for ts, dur in sorted(events):
			        while stack and stack[-1] <= ts:
			            stack.pop()
			        if stack and ts - dur > stack[-1]:
			            sys.exit(1)
			        stack.append(ts - dur)
			PYTHON
	done
}

judge_json() {
	"$bts" report --json calls.dat | python3 -c '
import json, sys
rows = [json.loads(line) for line in sys.stdin]
branches = [r for r in rows if "from" in r]
bill = rows[-1]["bill"]
sys.exit(len(branches) != bill["branches"] or bill["gaps"])'
}

# A function that is called by an exception, a signal or a jump returns to where it should.
judge_stacks() {
	"$bts" dump -f folded throws.dat 2>/dev/null >"$work/folded"
	grep -q ';main;attempt;deep;deep;deep;deep;__cxa_throw' "$work/folded" || return 1
	grep -q ';main;.*;main;' "$work/folded" && return 1
	"$bts" dump -f folded signals.dat 2>/dev/null >"$work/folded"
	grep -q ';main;kill;on_usr1' "$work/folded" || return 1
	grep -q ';main;.*;main;' "$work/folded" && return 1
	"$bts" dump -f folded loads.dat 2>/dev/null | grep -q 'main;twice '
}

judge_graph() {
	"$bts" graph fib calls.dat >"$work/text"
	# fib(12): 465 calls, and ten of fib(5): 15 each.
	awk '$4 == "main" { main = $1 } /^function/ { getline; all = $1 }
	     END { exit !(main == 1 && all == 465 + 150) }' "$work/text"
}

# No trace has a gap: each run is one that the code can have taken.
judge_gaps() {
	for trace in *.dat; do
		"$bts" top -n 0 "$trace" | tail -n 1 | grep -q ' lost 0, 0 gaps' || {
			echo "# $trace"
			return 1
		}
	done
}

echo "TAP version 13"
echo "1..13"
if has valgrind; then
	judge_callgrind calls 12
	result $? "callgrind: instructions of each function of calls"
	judge_callgrind calls-O0 8
	result $? "callgrind: instructions of each function of calls-O0"
	judge_callgrind throws
	result $? "callgrind: instructions of each function of throws"
else
	for prog in calls calls-O0 throws; do
		result 4 "callgrind: instructions of each function of $prog" "no valgrind"
	done
fi
judge_gcov
result $? "gcov: how often each line ran"
if has genhtml; then
	judge_genhtml
	result $? "genhtml opens the coverage"
else
	result 4 "genhtml opens the coverage" "no lcov"
fi
if has callgrind_annotate; then
	judge_annotate
	result $? "callgrind_annotate opens the dump, and has the same sum"
else
	result 4 "callgrind_annotate opens the dump, and has the same sum" "no valgrind"
fi
judge_folded
result $? "folded stacks have the same sum"
judge_chrome
result $? "calls in the timeline lie within each other"
judge_json
result $? "report --json has as many branches as the bill"
judge_stacks
result $? "stacks after exceptions, signals and dlopen"
judge_graph
result $? "graph counts the calls of fib"
judge_gaps
result $? "no trace has a gap or a loss"
"$bts" diff calls.dat calls.dat >/dev/null
result $? "a trace does not differ from itself"
exit $failed
