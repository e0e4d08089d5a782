#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Test that stock gdb can step backwards through traces. Print KTAP.
#
#	check.sh build DIR		build the programs in DIR
#	check.sh record DIR BTS PROGS	as root, on a kernel with the tracer, record the programs;
#					PROGS is the folder test.d/bts/progs, and STEP=PROGRAM is
#					the single-stepper of machine/judges
#	check.sh judge DIR BTS PROGS	run gdb on this machine; BTS_SLOW=1 adds a long history
#
# Each history that gdb shows is compared with a single-stepper's history. Programs without a C
# library behave in the same way on every machine. Programs with a C library are single-stepped on
# the machine that records them.
#
# shellcheck disable=SC2317 # called by judge

set -u

what=$1
dir=$2
bts=${3:-}
progs=${4:-}
here=$(cd -P -- "$(dirname -- "$0")" && pwd)
# shellcheck source=tools/tracing/bts/tests/ktap.sh
. "$here/../ktap.sh"
bare='bts_fib16 bts_signal bts_fault'
slow=${BTS_SLOW:-0}

build() {
	gcc -g -fPIC -shared -o libwords.so "$here/list.c" &&
		gcc -g -pie -fPIE -Wl,-z,now,-rpath,"$dir" -o words "$here/words.c" -L. -lwords &&
		gcc -g -O1 -o threads "$here/threads.c" -lpthread
}

# record NAME OPTION... -- COMMAND...
record() {
	name=$1
	shift
	got=0
	"$bts" record -o "$name.dat" "$@" >"$name.said" 2>&1 || got=$?
	# A signal ends one of the commands, so accept any status except 125, which means that bts
	# failed.
	if [ $got -eq 125 ] || ! "$bts" archive "$name.dat" >>"$name.said" 2>&1; then
		cat "$name.said"
	fi
}

record_all() {
	for prog in $bare; do
		record "$prog" -u -- "$progs/$prog"
	done
	record crash -u --flight=256k --on signal:SEGV -- ./words to be or not -not
	# Let the reader share the program's CPU, so that the reader cannot keep up.
	taskset -p 1 $$ >/dev/null
	record lossy --no-block -m 4k -- ./words to be or not
	taskset -p 3 $$ >/dev/null
	# Use one CPU, so that the main thread exits last, and the branches of the main thread are
	# written last. On two CPUs, another thread could exit later.
	record threads -u -- taskset 1 ./threads
	record both -e syscalls:sys_enter_exit_group -- sh -c '/bin/true; exec ./words to be or not'
	[ "$slow" = 1 ] || return 0
	record died -u -- ./words to be or not -not
	"$STEP" ./words to be or not -not >died.steps
}

# in_gdb TRACE [OPTION...] -- COMMAND...: run gdb commands, and write their output to $work/text.
in_gdb() {
	options=
	while [ "$1" != -- ]; do
		options="$options $1"
		shift
	done
	shift
	nr=$#
	while [ $nr -gt 0 ]; do
		set -- "$@" -ex "$1"
		shift
		nr=$((nr - 1))
	done
	# shellcheck disable=SC2086 # options
	"$bts" gdb $options -- -nx -batch "$@" >"$work/text" 2>&1 </dev/null
}

# says PATTERN...: gdb must have printed a line for each pattern, in the order of the patterns.
says() {
	at=0
	for pattern; do
		line=$(tail -n +$((at + 1)) "$work/text" | grep -n -m 1 -e "$pattern" | cut -d: -f1)
		[ "$line" ] || {
			echo "# no line after line $at matches '$pattern':"
			sed 's/^/#	/' "$work/text"
			return 1
		}
		at=$((at + line))
	done
}

# same_history NAME LEAST [faulted]: compare $work/text with NAME.steps. See history.py for LEAST and
# faulted.
same_history() {
	name=$1
	shift
	python3 "$here/history.py" "$name.steps" "$work/text" "$@"
}

# The call history of gdb must contain as many calls of fib() as the trace.
same_calls() {
	calls=$("$bts" report --no-lines bts_fib16.dat | grep -c '  call$')
	found=$(awk -F '\t' '/^[0-9]+\t *[a-z]/ { match($2, /^ */); depth = RLENGTH
			if ($2 ~ /fib$/ && depth > last) n++
			last = depth } END { print n }' "$work/text")
	echo "# $found calls of fib, $calls in the trace"
	[ "$calls" -eq 3193 ] && [ "$found" -eq "$calls" ]
}

# Print only a part of the history, because gdb needs five seconds for all 27,000 instructions.
judge_fib() {
	from=17001
	[ "$slow" = 0 ] || from=1
	in_gdb bts_fib16.dat -- "record instruction-history $from,27143" \
		'record function-call-history /c 1,1000000' || return 1
	"$STEP" "$progs/bts_fib16" >bts_fib16.steps &&
		same_history bts_fib16 $((27144 - from)) && same_calls
}

judge_bare() {
	in_gdb "$1.dat" -- 'record instruction-history 1,1000000' || return 1
	"$STEP" "$progs/$1" >"$1.steps" && same_history "$1" "$2"
}

judge_pie() {
	in_gdb died.dat -- 'record instruction-history 1,1000000' && same_history died 100000 faulted
}

# The message at the end of the history depends on the version of gdb.
end_of_history='No more reverse-execution history\|Reached end of recorded history'

# The program's bug: if a word is the first in the list, list_drop() does not unlink the word.
judge_crash() {
	in_gdb crash.dat -- 'info sharedlibrary' bt reverse-finish 'tbreak list_drop' reverse-continue \
		bt reverse-step reverse-stepi 'info locals' continue || return 1
	says 'control flow only: data, and all registers except the PC, are unavailable' \
		'has_letter .*list.c:36' ' /.*/libwords.so$' ' /.*/libc.so.6$' \
		'^#0 .*has_letter .*list.c:36' '^#1 .*list_count .*list.c:47' '^#[23] .*main .*words.c:16' \
		' list_count .*list.c:47' \
		'^Temporary breakpoint .*list_drop' '^#0 *list_drop ' '^#[12] .*main .*words.c:12' \
		'^main .*words.c:12' '= <unavailable>' "$end_of_history" \
		'has_letter .*list.c:36'
}

# Each loss is a row of the trace and a gap in gdb's history. If the row of a library's mapping is
# lost, gdb does not find the library's code, and reports more gaps than the trace contains.
judge_gaps() {
	"$bts" report --no-lines lossy.dat >"$work/rows"
	rows=$(grep -c ' LOST \| GAP ' "$work/rows")
	in_gdb lossy.dat -- 'info record' && says ' functions ([0-9]* gaps) ' || return 1
	all=$(sed -n 's/.* functions (\([0-9]*\) gaps) .*/\1/p' "$work/text")
	gaps=$(grep -c 'may be corrupted at instruction .* (pc = 0x1)' "$work/text")
	blind=$(grep -c 'may be incomplete at instruction' "$work/text")
	echo "# $gaps gaps, $rows losses; $blind gaps without code"
	[ "$rows" -ge 2 ] && [ "$rows" -eq "$gaps" ] && [ "$all" -eq $((gaps + blind)) ]
}

judge_threads() {
	in_gdb threads.dat -- 'info threads' 'thread 2' reverse-stepi 'break work' reverse-continue bt \
		'thread 1' 'info record' || return 1
	says '^\* 1  *Thread .*"threads"' '^  2  *Thread .*"first"' '^  3  *Thread .*"second[^"]*[?]"' \
		'^Thread 2 .* hit Breakpoint' '^#0 .*work ' '^#1 .*thread (' '^#2 .*start_thread ' \
		'for thread 1 ' && ! grep 'not well-formed' "$work/text"
}

# Step from the kernel back into the program. The debugger must decode the kernel's code as bts
# does.
judge_kernel() {
	in_gdb both.dat -k --window 30000 --at syscalls:sys_enter_exit_group -- 'info record' 'bt 20' \
		'tbreak main' reverse-continue 'info sharedlibrary' || return 1
	says '^#[0-9]* .* do_syscall_64 ' '^#[0-9]* .* entry_SYSCALL_64_after_hwframe ' \
		'Temporary breakpoint .*main ' ' /proc/[0-9]*/fd/[0-9]*$' &&
		! grep 'Recorded trace may be' "$work/text"
}

# The history must not contain sh, which ran in the same process before exec().
judge_exec() {
	in_gdb both.dat -- 'record goto begin' || return 1
	says '(words) up to ' '^#0 .* in _start () from .*/ld-linux-x86-64.so.2$' &&
		! grep -q 'Recorded trace may be' "$work/text"
}

# The current position counts as one of the three blocks that --window 3 shows.
judge_window() {
	in_gdb bts_fib16.dat --window 3 -- 'info record' && says ' 3 blocks, 0 gaps' || return 1
	time=$("$bts" report --no-lines bts_fib16.dat |
		sed -n '/  call$/s/.* \([0-9.]*\): .*/\1/p' | sed -n 50p)
	in_gdb bts_fib16.dat --at "$time" -- 'info record' && says "up to $time" || return 1
	blocks=$(sed -n 's/.*thread, \([0-9,]*\) blocks.*/\1/p' "$work/text" | tr -d ,)
	echo "# $blocks blocks up to $time"
	[ "$blocks" -gt 50 ] && [ "$blocks" -lt 7000 ]
}

# After exec(), each bts_map row contains the new name, so bts report and gdb must show this name.
judge_pid() {
	"$bts" report --no-lines both.dat | grep 'bts_map: .*/true$' >"$work/text"
	says '^ *true-' || return 1
	pid=$("$bts" report --no-lines both.dat | sed -n 's/^ *true-\([0-9]*\) .*/\1/p' | head -n 1)
	in_gdb both.dat --pid "$pid" -- 'info inferiors' && says "process $pid (true) " \
		"^\* 1 *process $pid " || return 1
	! in_gdb both.dat --pid 1 -- 'info record' || says 'bts: find: .*: no branch of process 1' || return 1
	in_gdb both.dat --at no_such_event -- 'info record'
	says 'bts: find: no_such_event: no such event'
}

# The port accepts only connections from this machine. Several gdb processes may connect in turn.
judge_listen() {
	"$bts" gdb --listen 0 bts_signal.dat >"$work/port" 2>"$work/said" &
	stub=$!
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		[ -s "$work/port" ] && break
		sleep 0.2
	done
	command=$(cat "$work/port")
	for _ in 1 2; do
		gdb -nx -batch -ex 'set sysroot' -ex "$command" -ex 'info record' -ex kill \
			>"$work/text" 2>&1 </dev/null
		says 'Recorded 5[0-9] instructions' || break
	done
	says 'Recorded 5[0-9] instructions'
	connected=$?
	port=$(printf '%04X' "${command##*:}")
	local=$(awk -v port="$port" '$4 == "0A" && sub(":" port "$", "", $2) { print $2 }' /proc/net/tcp)
	kill "$stub"
	wait "$stub" 2>/dev/null
	[ $connected -eq 0 ] && [ "$local" = 0100007F ]
}

# If reading a trace takes longer than gdb's timeout, gdb repeats its first packet. The repetition
# must not cause an error.
judge_patience() {
	gdb -nx -batch -ex 'set sysroot' \
		-ex "target remote | sleep 5; exec '$bts' gdb --stdio bts_signal.dat" \
		-ex 'info record' >"$work/text" 2>&1 </dev/null
	says 'Recorded 5[0-9] instructions' && ! grep 'unexpected' "$work/text"
}

judge_misuse() {
	for wrong in '--stdio --listen 1' '--listen 65536' '--listen x' '--window 1' '--pid x' \
		'--pid 4294967297' '--nonsense' 'a b' '--stdio -- -batch' '--at'; do
		# shellcheck disable=SC2086 # words
		"$bts" gdb $wrong >"$work/text" 2>&1 </dev/null
		[ $? -eq 2 ] && says '^bts gdb: ' || return 1
	done
	"$bts" gdb --stdio no.dat >"$work/text" 2>&1 </dev/null
	[ $? -eq 1 ] && says '^bts: read: no.dat: '
}

judge() {
	words=$1
	shift
	"$@"
	result $? "$words"
}

judge_all() {
	echo "TAP version 13"
	judge "gdb shows the same instructions and calls as the single-stepper" judge_fib
	judge "instructions of a program with signals" judge_bare bts_signal 57
	judge "instructions of a program with faults" judge_bare bts_fault 70
	[ "$slow" = 0 ] || judge "instructions of a PIE and its libraries, up to a crash" judge_pie
	judge "gdb shows a crash, steps backwards, and runs backwards to a breakpoint" judge_crash
	judge "gdb reports every place where the trace lacks branches" judge_gaps
	judge "threads have their names and histories" judge_threads
	judge "from an event in the kernel, gdb runs backwards into the program" judge_kernel
	judge "the history of a program begins at its exec" judge_exec
	judge "--window, and --at with a time" judge_window
	judge "--pid selects a process; an unknown PID or event is reported" judge_pid
	judge "the port accepts only connections from this machine" judge_listen
	judge "malformed packets" python3 "$here/packets.py" "$bts" bts_fib16.dat 1000
	judge "gdb connects to bts even if reading the trace exceeds gdb's timeout" judge_patience
	judge "misuse" judge_misuse
	echo "1..$n"
}

cd "$dir" || exit 1
unset DEBUGINFOD_URLS
case $what in
build) build ;;
record) record_all ;;
judge)
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	judge_all
	exit $failed
	;;
esac
