# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash disable=SC2154 # progs
#
# Functions for the tests that run in a guest. Before sourcing this file, set $progs to the folder
# of the programs whose branches are known.

total=0
failed=0

# say FILE: print FILE as KTAP comments.
say() {
	sed 's/^/# /' "$@"
}

# check NAME COMMAND...: run COMMAND, and print a KTAP result, which is ok if COMMAND succeeds.
check() {
	name=$1
	shift
	total=$((total + 1))
	if "$@" >said 2>&1; then
		echo "ok $total $name"
		return
	fi
	echo "not ok $total $name"
	say said
	failed=$((failed + 1))
}

# status N COMMAND...: run COMMAND, which must exit with status N.
status() {
	wanted=$1
	shift
	got=0
	"$@" || got=$?
	[ "$got" -eq "$wanted" ] || { echo "status $got, not $wanted: $*"; return 1; }
}

# says PATTERN COMMAND...: run COMMAND, which must print a line that matches PATTERN. Return the
# status of COMMAND, or 1 if no line matches.
says() {
	pattern=$1
	shift
	"$@" >words 2>&1
	said_status=$?
	tail -n 20 words
	grep -q -e "$pattern" words || { echo "no line matches: $pattern"; return 1; }
	return $said_status
}

not() {
	if "$@"; then
		return 1
	fi
}

# wait_for COMMAND...: repeat COMMAND until it succeeds, for at most ten seconds.
wait_for() {
	tries=0
	until "$@" >/dev/null 2>&1; do
		tries=$((tries + 1))
		[ $tries -lt 100 ] || { echo "still fails after ten seconds: $*"; return 1; }
		sleep 0.1
	done
}

# Print the branches of a trace in the format that bts_compare reads.
rows() { # FILE
	bts report --no-lines --json -i "$1" | awk -F '[:,"]+' '
		/"from":/ {
			for (i = 1; i < NF; i++)
				value[$i] = $(i + 1)
			print value["pid"], value["cpu"], value["ts"], substr(value["from"], 3),
			      substr(value["to"], 3)
		}'
}

exact() { # FILE PROGRAM [OPTION...]
	rows "$1" >branches
	program=$2
	shift 2
	"$progs/bts_compare" "$@" "$progs/$program.expect" branches
}
