#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# check.sh [--runs N] DIR: run the programs that the Makefile built in DIR, and print KTAP. Without
# --runs, run the KUnit test cases and the plugin's test. Then let each fuzzer run its corpus, and
# try new inputs for 5 seconds. With --runs, run only the fuzzers, with N inputs each.

set -u

runs=
if [ "${1:-}" = --runs ]; then
	runs=$2
	shift 2
fi
dir=$1
tests=$(cd -P -- "$(dirname -- "$0")/.." && pwd)
# shellcheck source=tools/tracing/bts/tests/ktap.sh
. "$tests/ktap.sh"

# fuzz NAME OPTION...: run a fuzzer, which writes new inputs to DIR/found-NAME. If an input causes a
# crash, the fuzzer writes the input to a file DIR/NAME-*.
fuzz() {
	name=$1
	shift
	mkdir -p "$dir/found-$name"
	"$dir/$name" -max_len=2048 -artifact_prefix="$dir/$name-" -print_final_stats=1 \
		-verbosity=0 "$@" "$dir/found-$name" "corpus/$name" >"$dir/$name.log" 2>&1
	status=$?
	[ "$status" -eq 0 ] || sed 's/^/# /' "$dir/$name.log"
	return "$status"
}

# inputs NAME: print the number of inputs that the fuzzer has tried.
inputs() {
	awk '/^stat::number_of_executed_units/ { print $2 }' "$dir/$1.log"
}

cd "$(dirname -- "$0")" || exit 1
echo "KTAP version 1"
if [ "$runs" ]; then
	echo "1..2"
	for name in fuzz_unpack fuzz_pack; do
		fuzz "$name" -runs="$runs"
		result $? "$name: $(inputs "$name") inputs"
	done
	exit "$failed"
fi

# These two programs print KTAP. Copy and renumber their results. If a program ends early, fewer
# results than planned are printed.
for name in pack_kunit test_plugin; do
	"$dir/$name" "$dir/plugin_bts.so" >"$dir/$name.log" 2>&1 || failed=1
done
plan=$(cat "$dir/pack_kunit.log" "$dir/test_plugin.log" |
	awk '/^1\.\./ { n += substr($1, 4) } END { print n + 4 }')
echo "1..$plan"
cat "$dir/pack_kunit.log" "$dir/test_plugin.log" | awk '
	/^KTAP/ || /^1\.\./ { next }
	/^(not )?ok / { n++; sub(/ok [0-9]+/, "ok " n) }
	{ print }
'
n=$((plan - 4))
for name in fuzz_unpack fuzz_pack; do
	"$dir/$name" -runs=0 -verbosity=0 "corpus/$name" >"$dir/$name.log" 2>&1
	result $? "$name: corpus"
	fuzz "$name" -max_total_time=5
	result $? "$name: 5 seconds"
done
exit "$failed"
