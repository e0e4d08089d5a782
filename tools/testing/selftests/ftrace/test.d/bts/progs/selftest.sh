#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Test the tools that check traces. The machine need not have the tracer. The output is KTAP.
#
#   selftest.sh DIR
#
# DIR is the output folder of the Makefile. For each program, bts_step must print the branches in
# DIR/PROGRAM.expect. Then bts_compare must accept perfect traces, and reject all damaged traces.

set -u

dir=$1
known="bts_jumps bts_loop bts_syscall bts_busy bts_signal bts_exec bts_fork bts_vfork
       bts_threads bts_hop bts_vsyscall"
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
n=0
failed=0

result() { # STATUS NAME
	n=$((n + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $n $2"
	else
		echo "not ok $n $2"
		sed 's/^/# /' "$tmp/log" 2> /dev/null
		failed=$((failed + 1))
	fi
}

# Print one line for each branch, grouped by task.
expand() { # EXPECTED
	awk '{ for (i = 0; i < $4; i++) print $1, $2, $3, 1 }' "$1" | sort -s -n -k 1,1
}

# Print the trace that a perfect tracer would write, and add some kernel branches.
perfect() { # EXPECTED
	expand "$1" | awk '
		{
			if ($2 == "kernel") $2 = "ffffffff81000010"
			if ($3 == "kernel") $3 = "ffffffff81000020"
			print 100 + $1, 0, NR, $2, $3
			print 100 + $1, 0, NR, "ffffffff81000030", "ffffffff81000040"
		}'
}

compare() { # EXPECTED TRACE
	"$dir/bts_compare" "$1" "$2" > "$tmp/log" 2>&1
}

accepts() { # NAME: compare must accept $tmp/trace
	compare "$expected" "$tmp/trace"
	result $? "compare: accepts $1"
}

refuses() { # NAME
	compare "$expected" "$tmp/trace"
	[ $? -eq 1 ]
	result $? "compare: refuses $1"
}

oracle() { # PROGRAM [ARGUMENT...]
	program=$1
	shift
	expand "$dir/$program.expect" > "$tmp/stated"
	timeout 60 "$dir/bts_step" -o "$tmp/stepped" "$dir/$program" "$@" > "$tmp/log" 2>&1 &&
		expand "$tmp/stepped" > "$tmp/seen" &&
		diff "$tmp/stated" "$tmp/seen" > "$tmp/log"
	result $? "bts_step: $program takes the branches listed in its source"
}

echo "TAP version 13"
echo "1..31"

for program in $known; do
	if [ "$program" = bts_vsyscall ] && ! grep -q vsyscall /proc/self/maps; then
		n=$((n + 1))
		echo "ok $n bts_step: $program # SKIP no vsyscall page here"
		continue
	fi
	case $program in
	bts_exec) oracle "$program" again ;;
	*) oracle "$program" ;;
	esac
done

# The single-stepper does not notice faults that the kernel resolves, so count only branches within
# user space.
awk '$3 == "kernel" || $2 == "kernel" { next } { print }' "$dir/bts_fault.expect" |
	awk '{ n += $4 } END { print n }' > "$tmp/stated"
"$dir/bts_step" -o "$tmp/stepped" "$dir/bts_fault" > "$tmp/log" 2>&1 &&
	grep -c -v kernel "$tmp/stepped" > "$tmp/seen" &&
	diff "$tmp/stated" "$tmp/seen" > "$tmp/log"
result $? "bts_step: bts_fault takes the expected number of branches within user space"

"$dir/bts_step" -o "$tmp/stepped" "$dir/bts_fib" > "$tmp/log" 2>&1
fib=$(nm "$dir/bts_fib" | awk '$3 == "fib" { sub(/^0+/, "", $1); print $1 }')
awk -v fib="$fib" '$3 == fib { n++ } END { exit n != 177 }' "$tmp/stepped"
result $? "bts_step: fib(10) is called 177 times"

"$dir/bts_step" -o "$tmp/again" "$dir/bts_libc" > "$tmp/log" 2>&1 &&
	"$dir/bts_step" -o "$tmp/stepped" "$dir/bts_libc" > "$tmp/log" 2>&1 &&
	cmp "$tmp/again" "$tmp/stepped" > "$tmp/log" &&
	[ "$(wc -l < "$tmp/stepped")" -gt 1000 ]
result $? "bts_step: two runs of a program with a C library give the same list"

expected=$dir/bts_syscall.expect
perfect "$expected" > "$tmp/perfect"
lines=$(wc -l < "$tmp/perfect")

cp "$tmp/perfect" "$tmp/trace"
accepts "a perfect trace"

back=$(awk '$4 !~ /^ffff/ && $5 !~ /^ffff/ { print NR; exit }' "$tmp/perfect")
sed "${back}d" "$tmp/perfect" > "$tmp/trace"
refuses "a missing branch"

sed "${back}p" "$tmp/perfect" > "$tmp/trace"
refuses "a branch twice"

awk -v at="$back" 'NR == at { held = $0; next } { print } NR == at + 2 { print held }' \
	"$tmp/perfect" > "$tmp/trace"
refuses "two branches in the wrong order"

sed "$((lines - 1))d" "$tmp/perfect" > "$tmp/trace"
refuses "a missing last branch"

{ cat "$tmp/perfect"; echo "100 0 999 401000 401002"; } > "$tmp/trace"
refuses "an additional branch at the end"

{ cat "$tmp/perfect"; echo "99 0 999 401000 401002"; } > "$tmp/trace"
refuses "a branch of another task"

{ echo "CPU:0 [LOST 12 EVENTS]"; cat "$tmp/perfect"; } > "$tmp/trace"
refuses "a lost event"

: > "$tmp/trace"
refuses "an empty trace"

# Add an interrupt at the target address of the branch on line $back.
place=$(awk -v at="$back" 'NR == at { print $5 }' "$tmp/perfect")
awk -v at="$back" -v place="$place" '{ print } NR == at {
	print 100, 0, NR, place, "ffffffff81000020"
	print 100, 0, NR, "ffffffff81000010", place }' "$tmp/perfect" > "$tmp/trace"
accepts "an interrupt that returns"

awk -v at="$back" -v place="$place" '{ print } NR == at {
	print 100, 0, NR, place, "ffffffff81000020" }' "$tmp/perfect" > "$tmp/trace"
refuses "an interrupt that does not return"

awk -v at="$back" -v place="$place" '{ print } NR == at {
	print 100, 0, NR, "ffffffff81000010", place }' "$tmp/perfect" > "$tmp/trace"
refuses "a return without an interrupt"

awk -v at="$back" '{ print } NR == at {
	print 100, 0, NR, "400fff", "ffffffff81000020"
	print 100, 0, NR, "ffffffff81000010", "400fff" }' "$tmp/perfect" > "$tmp/trace"
refuses "an interrupt at an address that the program did not reach"

# Make a chain of user and kernel branches. Each branch begins at or soon after the target of the
# previous branch.
expected=$dir/bts_loop.expect
entry=$(awk 'NR == 1 { print $3 }' "$expected")
{
	echo "100 0 1 ffffffff81000010 $entry"
	echo "100 0 2 $entry ffffffff81000020"
	echo "100 0 3 ffffffff81000024 ffffffff81200100"
	echo "100 0 4 ffffffff81200108 $entry"
	expand "$expected" | sed 1d | awk '{
		print 100, 0, 5, $2, $3 == "kernel" ? "ffffffff81000020" : $3 }'
} > "$tmp/perfect"
"$dir/bts_compare" -k "$expected" "$tmp/perfect" > "$tmp/log" 2>&1
result $? "compare -k: accepts a trace with all kernel branches"
sed 3d "$tmp/perfect" > "$tmp/trace"
"$dir/bts_compare" -k "$expected" "$tmp/trace" > "$tmp/log" 2>&1
[ $? -eq 1 ]
result $? "compare -k: refuses a trace in which one kernel branch is missing"

expected=$dir/bts_threads.expect
perfect "$expected" | sort -s -n -k 3,3 > "$tmp/trace"
accepts "several threads"

awk '$1 == 101 { $1 = 102; print; next } $1 == 102 { $1 = 101 } { print }' \
	"$tmp/trace" > "$tmp/swapped"
mv "$tmp/swapped" "$tmp/trace"
refuses "two threads' branches exchanged"

[ "$failed" -eq 0 ]
