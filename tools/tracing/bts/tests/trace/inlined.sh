# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# Test the option --inline. judge.sh sets $bts, $progs and $work, changes to the directory
# with the traces, and then sources this file.
#
# shellcheck disable=SC2154

# entries TRACE OPTION...: print main()'s call tree (depths and names) without interrupts.
entries() {
	trace=$1
	shift
	"$bts" replay -F main "$@" "$trace.dat" | sed -n -e 's/ \[inlined]//' -e '/interrupt$/d' \
		-e 's/^.\{49\}\( *[a-z]*\)()\( {\|;\)$/\1/p'
}

# With --inline, the call tree must equal the call tree of a build without inlining. The option must
# not change the total number of instructions. bts must refuse --inline with -f csv.
judge_inline() {
	entries inlines-not >"$work/a"
	[ "$(wc -l <"$work/a")" -eq 34 ] || return 1
	for trace in inlines inlines-clang; do
		entries "$trace" --inline | diff "$work/a" - && ! entries "$trace" | cmp -s "$work/a" - &&
			"$bts" graph --inline inner "$trace.dat" >"$work/text" &&
			awk '/^function/ { getline; exit !($1 == 5 && $4 == "inner" && $5 == "[inlined]") }' \
				"$work/text" || return 1
		whole=$(total "$trace.dat")
		[ "$(total "$trace.dat" --inline)" = "$whole" ] &&
			"$bts" dump -f folded --inline "$trace.dat" 2>/dev/null >"$work/folded" &&
			grep -q ';first;outer \[inlined];inner \[inlined];told [0-9]*$' "$work/folded" &&
			[ "$(awk '{ n += $NF } END { print n }' "$work/folded")" = "$whole" ] &&
			"$bts" dump -f callgrind --inline -o "$work/out" "$trace.dat" >/dev/null &&
			callgrind_annotate --inclusive=yes --threshold=100 "$work/out" |
			sed -n 's/^ *\([0-9]*\) .*inlines.c:\([a-z]*\) .*\/inlines.*/\2 \1/p' >"$work/text" ||
			return 1
		# Functions that are inlined into first() are parts of first(), and must not be
		# counted twice.
		awk '{ n[$1] = $2 }
			END { exit !(n["outer"] && n["outer"] < n["first"] && n["first"] < n["main"]) }' \
			"$work/text" || return 1
	done
	"$bts" dump -f csv --inline inlines.dat 2>"$work/said" && return 1
	grep -q -e '--inline: -f csv shows no calls' "$work/said"
}

# In a build without inlining, gcov counts the calls. In a build with inlining, bts must find the
# same counts. bts must refuse --inline with -f pcs, because this format has no functions.
judge_inline_calls() {
	(cd "$work" && gcc -O0 -DINLINED= --coverage -o plain "$progs/inlines.c" && ./plain &&
		gcov -b -t plain-inlines.gcda 2>/dev/null) |
		sed -n 's/^function \([a-z]*\) called \([0-9]*\) .*/\1 \2/p' | sort >"$work/a"
	[ "$(wc -l <"$work/a")" -eq 7 ] || return 1
	for trace in inlines inlines-clang; do
		"$bts" cover -f lcov --inline --dso "$trace" "$trace.dat" 2>/dev/null |
			sed -n 's/^FNDA:\([0-9]*\),\(.*\)/\2 \1/p' | sort | diff "$work/a" - &&
			"$bts" top --inline -n 0 --dso "$trace" "$trace.dat" |
			sed -n 's/ \[inlined]//; s/  ('"$trace"')$//p' | awk '{ print $6, $5 }' | sort |
			join "$work/a" - | awk '$2 != $3 { print "#", $0; bad = 1 } END { exit bad || NR != 7 }' ||
			return 1
		"$bts" cover -f lcov --dso "$trace" "$trace.dat" 2>/dev/null | grep -q '^FNDA:0,inner$' ||
			return 1
	done
	"$bts" cover -f pcs --inline inlines.dat 2>"$work/said" && return 1
	grep -q -e '--inline: -f pcs shows no functions' "$work/said"
}

# At both ends of each branch, bts must find the same inlined functions as llvm-addr2line.
judge_inline_places() {
	for trace in inlines inlines-clang; do
		PYTHONPATH="$progs/../../lib" PYTHONDONTWRITEBYTECODE=1 "$progs/../inlined.py" "$bts" \
			"$trace" || return 1
	done
	"$bts" report --inline inlines.dat >"$work/text" && grep -q \
		' first+0x[0-9a-f]* > outer \[inlined] > inner \[inlined] -> told+0x0  call ' "$work/text"
}
