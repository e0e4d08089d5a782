#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Check the recordings of record.sh:
#
#	judge.sh PROGRAMS DIR GUEST	GUEST: the output of record.sh
#
# The tool bts_compare checks that each trace contains exactly the expected branches within user
# space, in order. The expected branches are listed in the source of the traced program, or were
# found by single-stepping. If the kernel has the tracer, the tracer's trace and perf's trace of a
# program are also compared. Print KTAP.

set -u

progs=$1
dir=$2
guest=$3
# shellcheck source=tools/tracing/bts/tests/checks.sh
. "${0%/*}/../checks.sh"
cd "$dir" || exit 1
cat "$guest"
total=$(grep -c -e '^ok ' -e '^not ok ' "$guest")
failed=$(grep -c '^not ok ' "$guest")

# --- Compared with the known branches -------------------------------------------------

# Print the tasks of a trace, including tasks without any branches.
tasks() { # FILE
	bts report --no-lines --json "$1" | sed -n 's/.*"pid":\([0-9]*\),.*"arrives .*/\1/p' |
		sort -nu | paste -sd,
}

exact_user() { # FILE EXPECTED
	rows "$1" >branches
	"$progs/bts_compare" -u -p "$(tasks "$1")" "$2" branches
}

no_gap() { # FILE
	says 'nothing lost, 0 gaps' bts top "$1"
}

judge() { # FILE EXPECTED
	exact_user "$1" "$2" && no_gap "$1"
}

for program in bts_jumps bts_loop bts_syscall bts_fault bts_signal bts_fork bts_vfork bts_threads \
	bts_hop bts_yield bts_exec; do
	check "$program: each user-space branch and none extra" \
		judge $program.dat "$progs/$program.expect"
done
for program in bts_fib bts_vdso; do
	check "$program: the same as the single-stepper's" judge $program.dat $program.oracle
done
check "a recording by a non-root user contains each branch" judge user.dat "$progs/bts_jumps.expect"
for program in bts_jumps bts_fault bts_signal bts_hop; do
	bts import -o import.dat $program.data 2>said_it
	check "import of branches:u: $program" exact_user import.dat "$progs/$program.expect"
done
for data in two-first two-last; do
	bts import -o import.dat $data.data 2>said_it
	check "import of branches:u from a file that also contains page-faults:u: $data" \
		exact_user import.dat "$progs/bts_fault.expect"
done
check "bts_compare rejects wrong branches" not exact_user bts_fork.dat "$progs/bts_jumps.expect"

# Without perf_follow.c, perf would attribute some branches to the wrong task. Each of these
# branches would cause a gap.
check "tasks that share a CPU are kept apart" no_gap clones.dat
check "a row shows a signal's handler, and where the signal arrived" \
	says 'SIGNAL to _start?+0x86, at ' bts report --no-lines bts_signal.dat

# --- intel_bts, which can also record the kernel --------------------------------------

intel_both() { # PROGRAM
	bts import -o import.dat "$1-intel.data" && rows import.dat >branches &&
		"$progs/bts_compare" "$progs/$1.expect" branches
}
intel_user() { # PROGRAM
	bts import -o import.dat "$1-intelu.data" && rows import.dat >branches &&
		"$progs/bts_compare" -u "$progs/$1.expect" branches || return
	# Without symbols, the entry into a signal handler cannot be inferred.
	[ "$1" = bts_signal ] || no_gap import.dat
}
for program in bts_jumps bts_fault bts_signal; do
	check "an import of intel_bts// has each user-space branch of $program" intel_both $program
	check "an import of intel_bts//u has each branch of $program" intel_user $program
done
# "bts record --backend intel_bts" must record each expected branch. This includes the branches of
# child processes.
live_both() { # PROGRAM
	rows "$1-live.dat" >branches &&
		"$progs/bts_compare" -p "$(tasks "$1-live.dat")" "$progs/$1.expect" branches
}
for program in bts_jumps bts_fault bts_signal bts_fork bts_threads bts_hop; do
	check "intel_bts: the trace has each user-space branch of $program" live_both $program
	check "intel_bts -u: $program" judge $program-live-u.dat "$progs/$program.expect"
done
live_kernel() {
	rows jumps-k.dat >branches && [ -s branches ] && not grep -v 'ffffffff' branches &&
		says 'ksys\|do_syscall_64' bts top -n 0 jumps-k.dat
}
check "intel_bts -k: names of kernel functions, and no branch within user space" live_kernel
# The kernel stops intel_bts after a loss, so bts must start intel_bts again.
live_lost() {
	[ "$(bts report --no-lines lost-live.dat | grep -c 'LOST branches (ring buffer full)')" -gt 1 ]
}
check "intel_bts: recording continues after a loss" live_lost
intel_kernel() {
	bts import -o import.dat bts_jumps-intelk.data && rows import.dat >branches && [ -s branches ] &&
		not grep -v 'ffffffff' branches
}
check "import of intel_bts//k: no branch within user space" intel_kernel
intel_lost() {
	says 'lost ? (ring buffer full' bts import -o lost.dat lost-intel.data &&
		says 'LOST branches (ring buffer full)' bts report --no-lines lost.dat
}
check "import of intel_bts//u: truncated data is reported as a loss" intel_lost
# Clear the size in the AUX record (type 11), so that the record describes no branches.
intel_unread() {
	python3 -c 'import struct, sys
data = bytearray(sys.stdin.buffer.read())
at = data.index(struct.pack("<IHH", 11, 0, 48)) + 16
struct.pack_into("<Q", data, at, 0)
sys.stdout.buffer.write(data)' <bts_jumps-intel.data >unread.data
	status 1 says '[0-9] branches have no AUX record' bts import -o unread.dat unread.data &&
		says 'lost ? (entry cannot be read)' bts info unread.dat
}
check "import of intel_bts//: branches without an AUX record are reported as a loss" intel_unread
# perf's samples have 48 bytes, so one of the six truncated files ends right after a sample.
cut_short() {
	for size in 2000 2008 2016 2024 2032 2040; do
		head -c $size bts_jumps.data >cut.data
		status 1 says 'offset .*: the file is truncated' bts import -o cut.dat cut.data &&
			says 'lost ? (entry cannot be read)' bts info cut.dat || return
	done
	says 'LOST branches (entry cannot be read)' bts report --tail 1 cut.dat &&
		status 1 says 'not a perf.data file' bts import -o n.dat "$progs/bts_jumps" &&
		status 1 says 'No such file' bts import -o n.dat no.data && [ ! -e n.dat ]
}
check "import reports a truncated file, a file that is not perf.data, and a missing file" cut_short
import_archives() {
	rm -rf new.dat* && mkdir -p new.dat.archive && touch new.dat.archive/foreign || return
	bts import -o new.dat bts_jumps.data && [ -e new.dat.archive/foreign ] &&
		bts import -o new.dat bts_jumps.data && [ -e new.dat.old.archive/foreign ] &&
		[ ! -e new.dat.archive ]
}
check "import renames an existing trace together with its archive" import_archives

# --- Compared with the tracer ---------------------------------------------------------

# The tracer and perf must report the same number of instructions and calls for each function, and
# the same executed addresses. Do not compare the numbers of branches, because only the tracer
# counts branches into the kernel. Leave out _start(), whose beginning only the tracer sees.
counts() { # FILE
	bts top --json -n 0 "$1" |
		grep -v -e '"dso":"\[kernel\]"' -e '"bill"' -e '"function":"_start' |
		sed 's/"branches":[0-9]*,//' | sort
}

# perf's traces lack the instructions just before a fault, so compare only the calls.
calls() { # FILE
	counts "$1" | sed 's/"instructions":[0-9]*,//'
}

covered() { # FILE
	bts cover -f pcs "$1" 2>cover.said | sort
}

same() { # ANSWER NAME
	$1 "$2-tracer.dat" >tracer.txt
	$1 "$2-perf.dat" >perf.txt
	wc -l tracer.txt
	[ -s tracer.txt ] && diff tracer.txt perf.txt
}

for command in sort fib; do
	[ -e $command-tracer.dat ] || continue
	check "bts top for $command: perf and the tracer agree" same counts $command
	check "bts cover for $command: perf and the tracer agree" same covered $command
done
# If a trace has no branches into the kernel, bts must infer where signal handlers begin.
handlers() {
	bts cover -f lcov --dso signals signals-perf.dat >info.txt 2>cover.said &&
		grep -qx 'FNDA:5,on_usr1' info.txt && grep -qx 'FNDA:1,on_segv' info.txt &&
		grep -qx "DA:$(grep -n 'handled++' "$1" | cut -d: -f1),5" info.txt
}
# Check the list of functions in bts tui. Use a subshell, because tui.sh redefines functions.
handlers_in_tui() (
	bts=$(command -v bts)
	work=.
	# shellcheck source=tools/tracing/bts/tests/trace/tui.sh
	. "${0%/*}/../trace/tui.sh"
	tui 100 500 signals-perf.dat && press t && shows ' 5  on_usr1[?]*  (signals)'
	status=$?
	tui_end
	exit $status
)
if [ -e signals-perf.dat ]; then
	check "calls in signals.c: perf and the tracer agree" same calls signals
	check "cover: the calls and the first lines of signal handlers" \
		handlers "${0%/*}/../trace/progs/signals.c"
	check "top --inline with signal handlers" says 'on_usr1' bts top --inline -n 0 signals-perf.dat
	check "tui: the calls of signal handlers" handlers_in_tui
fi
# These traces have no branch for exec() or sigreturn(), so the dump must not add such a branch.
sums() {
	for program in bts_exec bts_signal; do
		[ "$(bts dump -f callgrind $program.dat 2>/dev/null |
			awk '/^summary:/ { print $3 }')" = \
		  "$(rows $program.dat | wc -l)" ] || return 1
	done
}
check "the callgrind dump and the report contain the same number of branches" sums

# --- Losses and rows ------------------------------------------------------------------

check "bts report prints a row for a loss" says 'LOST branches (ring buffer full)' \
	bts report --no-lines lost.dat
check "the mappings of a PID, from /proc" says 'bts_map: .*bts_spin_a' \
	bts report --no-lines --head 20 spin.dat
# Stock trace-cmd with the plugin must print one row for each branch.
trace_cmd() {
	trace-cmd report -i bts_loop.dat 2>said_it | grep -c ' -> ' >rows.txt
	cat rows.txt
	[ "$(cat rows.txt)" -eq 999 ]
}
check "trace-cmd prints a row for each of the 999 branches of bts_loop" trace_cmd

echo "1..$total"
[ "$failed" -eq 0 ]
