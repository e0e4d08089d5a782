# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# Test which rows are read and printed. judge.sh sets $bts and $work, and then sources this file in
# the directory with the traces.
#
# shellcheck disable=SC2154

# Print the output of bts without the summary, and without the file name that bts info prints.
rows() { # BTS-ARGUMENT...
	"$bts" "$@" 2>&1 | sed -e '/^#/d' -e '/^{"bill"/d' -e 's/^file  *[^,]*//'
}

# Read a trace that has no archive, first from a pipe and then from a redirected file.
judge_stdin() {
	cp calls.dat "$work/alone.dat" && mkfifo "$work/pipe" || return
	for command in 'report --no-lines' 'top -n 0' 'replay -D 5' 'cover -f pcs' 'dump -f csv' 'info --stats'; do
		cat calls.dat >"$work/pipe" &
		# shellcheck disable=SC2086 # a command and its options
		rows $command "$work/alone.dat" >"$work/a" && rows $command - <"$work/pipe" | cmp "$work/a" - &&
			[ "$(wc -l <"$work/a")" -gt 10 ] || return 1
	done
	rows top -n 3 "$work/alone.dat" >"$work/a" && rows top -n 3 -i - <calls.dat | cmp "$work/a" - &&
		"$bts" diff --all calls.dat - <"$work/alone.dat" >"$work/a" &&
		! echo none | "$bts" top - 2>"$work/said" &&
		grep -q '^bts: read: standard input: not a trace' "$work/said"
}

# Print the last rows of a trace in both orders: oldest first, and newest first.
judge_tail() {
	for option in --no-lines --json; do
		rows report "$option" throws.dat >"$work/all"
		rows report "$option" --tail 300 throws.dat >"$work/a"
		head -n 100 "$work/all" | tail -n 7 >"$work/b"
		tail -n 300 "$work/all" | cmp - "$work/a" && tac "$work/a" >"$work/c" &&
			rows report "$option" --tail 300 -r throws.dat | cmp - "$work/c" &&
			rows report "$option" --tail 7 --head 100 throws.dat | cmp - "$work/b" || return 1
	done
	"$bts" report --tail 1000000 throws.dat >"$work/a" && "$bts" report throws.dat | cmp - "$work/a" &&
		misused report --tail 0 throws.dat && ! "$bts" report -r throws.dat 2>"$work/said" &&
		grep -q -e '--reverse needs --tail' "$work/said"
}
