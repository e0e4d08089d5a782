#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Record with perf, as root, on real or emulated hardware, with or without the tracer in the kernel:
#
#	record.sh PROGRAMS DIR	PROGRAMS: the folder test.d/bts/progs of ftrace's selftests;
#				DIR: the folder for the traces
#
# Print KTAP without a plan. The plan and the remaining results are printed by judge.sh, which can
# run on any machine with the same programs.

set -u

progs=$1
dir=$2
# shellcheck source=tools/tracing/bts/tests/checks.sh
. "${0%/*}/../checks.sh"
cd "$dir" || exit 1

bts_perf() {
	bts record --backend perf "$@"
}

# --- With intel_bts, if page table isolation is off -----------------------------------

# Record to /tmp, because Linux 7.3 cannot write perf's ring buffers to an uncached 9p file system.
perf_record() { # FILE OPTION...
	file=$1
	shift
	perf record -q -o /tmp/perf.data "$@" && mv /tmp/perf.data "$file"
}
intel_bts() { # PROGRAM
	for side in u k ''; do
		perf_record "$1-intel$side.data" --per-thread -m ,4096 -e "intel_bts//$side" \
			"$progs/$1" || return
	done
}
intel_live() { # PROGRAM [OPTION]
	# shellcheck disable=SC2086 # may be empty
	says 'nothing lost' bts record --backend intel_bts $2 -o "$1-live$2.dat" -- "$progs/$1"
}
if [ -e /sys/bus/event_source/devices/intel_bts ]; then
	for program in bts_jumps bts_fault bts_signal bts_fork bts_threads bts_hop; do
		check "record --backend intel_bts $program" intel_live $program ''
		check "record --backend intel_bts -u $program" intel_live $program -u
	done
	check "record --backend perf -k uses intel_bts" \
		says 'nothing lost' bts_perf -k -o jumps-k.dat -- "$progs/bts_jumps"
	check "record --backend intel_bts with a small area" says 'lost' \
		bts record --backend intel_bts -u -m 128k -o lost-live.dat -- "$progs/bts_million"
	for program in bts_jumps bts_fault bts_signal; do
		check "perf record -e intel_bts// $program" intel_bts $program
	done
	perf_record lost-intel.data --per-thread -e intel_bts//u -m ,16 "$progs/bts_million"
	exit $((failed > 0))
fi

# --- Programs with known branches -----------------------------------------------------

records() { # PROGRAM [ARGUMENT]
	traced=$1
	shift
	says 'nothing lost' bts_perf -o "$traced.dat" -- "$progs/$traced" "$@"
}

for program in bts_jumps bts_loop bts_syscall bts_fault bts_signal bts_fork bts_vfork bts_threads \
	bts_hop bts_yield; do
	check "record $program" records $program
done
check "record bts_exec" records bts_exec again
for program in bts_jumps bts_fault bts_signal bts_hop; do
	check "perf record $program" perf_record $program.data -e branches:u -c 1 -d \
		"$progs/$program"
done
# Both events have the same options, so perf gives them the same sample type.
check "perf record branches:u and page-faults:u" perf_record two-first.data -e branches:u \
	-e page-faults:u -c 1 -d "$progs/bts_fault"
check "perf record page-faults:u and branches:u" perf_record two-last.data -e page-faults:u \
	-e branches:u -c 1 -d "$progs/bts_fault"
check "record bts_million" says ' 1,000,000 branches.*nothing lost' \
	bts_perf -o million.dat -- "$progs/bts_million"

stepped() { # PROGRAM
	setarch -R "$progs/bts_step" -o "$1.oracle" "$progs/$1" &&
		says 'nothing lost' setarch -R bts record --backend perf -o "$1.dat" -- "$progs/$1"
}
check "record bts_fib, and step through it" stepped bts_fib
check "record bts_vdso, and step through it" stepped bts_vdso

# shellcheck disable=SC2016 # expanded by the recorded shell
check "record tasks that share a CPU" says '24 tasks,.*nothing lost' \
	bts_perf -o clones.dat -- taskset -c 0 sh -c '
		spawn() { i=0; while [ $i -lt 10 ]; do i=$((i + 1)); (:); done; }
		(spawn & (spawn; :); wait; :); :'

# --- Programs recorded with perf and with the tracer ----------------------------------

both() { # NAME COMMAND...
	to=$1
	shift
	says 'nothing lost' setarch -R bts record -u --backend tracer -o "$to-tracer.dat" -- "$@" &&
		says 'nothing lost' setarch -R bts record --backend perf -o "$to-perf.dat" -- "$@"
}

if grep -qw bts /sys/kernel/tracing/available_tracers; then
	printf '%s\n' 5 3 9 1 >/tmp/numbers
	check "record sort(1), with perf and with the tracer" both sort sort /tmp/numbers
	check "record the program fib, with perf and with the tracer" both fib "$progs/bts_fib"
	check "record the program ./signals, with perf and with the tracer" both signals ./signals
else
	check "without the tracer, bts record uses perf" says 'recording with perf' \
		bts record -o default.dat -- "$progs/bts_jumps"
	check "without the tracer, --backend tracer fails" status 125 says 'no bts tracer' \
		bts record --backend tracer -o t.dat -- "$progs/bts_jumps"
fi

# --- Losses ---------------------------------------------------------------------------

# While bts is stopped, the ring buffer fills up.
loses() {
	bts record --backend perf -m 128k -o lost.dat -- "$progs/bts_million" 2>bill &
	bts=$!
	wait_for pgrep -x bts_million
	kill -STOP $bts
	sleep 1
	kill -CONT $bts
	wait $bts && says 'lost ? (ring buffer full' cat bill &&
		says 'lost ? (ring buffer full' bts info lost.dat &&
		says 'lost ? (ring buffer full' bts top -n 0 lost.dat
}
check "the summary reports the loss if the ring buffer is full" loses

# --- Running tasks, users, refusals ---------------------------------------------------

# Report whether the process has opened a perf event.
has_event() { # PID
	find "/proc/$1/fd" -lname '*perf_event*' | grep -q .
}

running() {
	"$progs/bts_spin_a" &
	spin=$!
	wait_for grep -qx bts_spin_a /proc/$spin/comm || return
	bts record --backend perf -p $spin -o spin.dat &
	bts=$!
	wait_for has_event $bts || return
	sleep 0.5
	kill -INT $bts
	wait $bts && kill $spin || return
	wait $spin
	says '^[1-9][0-9,]* branches, 1 task' bts info spin.dat &&
		status 125 says 'No such process' bts_perf -p $spin
}
check "a process that is already running, and continues afterwards" running

# The process has four threads, and creates short-lived threads all the time. The trace must contain
# the name of each thread.
has_threads() {
	[ "$(find "/proc/$spin/task" -maxdepth 1 | wc -l)" -gt 4 ]
}
threads() {
	python3 -c 'import threading, time
def run():
    while True:
        time.sleep(.01)
for i in range(3):
    threading.Thread(target=run).start()
while True:
    threading.Thread(target=time.sleep, args=(.01,)).start()
    time.sleep(.02)' &
	spin=$!
	wait_for has_threads || return
	bts record --backend perf -p $spin -o threads.dat &
	bts=$!
	wait_for test -e threads.dat.new || return
	sleep 0.5
	kill -INT $bts
	wait $bts
	got=$?
	kill -9 $spin
	[ $got -eq 0 ] && says '^# [0-9,]* branches, [0-9]* tasks, .*nothing lost' bts top -n 3 threads.dat &&
		bts report --no-lines threads.dat >report.txt &&
		[ "$(awk '/ arrives / { sub(/-[0-9]+$/, "", $1); print $1 }' report.txt | sort -u)" = python3 ] &&
		[ "$(awk '/ -> / { print $1 }' report.txt | sort -u | wc -l)" -gt 4 ]
}
check "a running process with threads" threads

# SIGWINCH is ignored by default, but wakes a ptraced task, which then repeats its system call.
repeated_call() {
	bts record --backend perf -o sleep.dat -- sleep 0.5 &
	bts=$!
	wait_for pgrep -x sleep
	sleep 0.2
	pkill -WINCH -x sleep
	wait $bts && says '^status *0' bts info sleep.dat
}
check "a system call that a signal interrupts and the kernel restarts" repeated_call

# The user may not lock 8 MiB of memory for each CPU, so bts must use smaller ring buffers. The
# program runs on one CPU, and fills the ring buffer of this CPU more than once.
limited() {
	# shellcheck disable=SC2086 # a command and its options
	says ' 1,000,000 branches.*nothing lost' taskset -c 0 prlimit --memlock=4194304 $user \
		bts record -m 8M -o /tmp/public/limited.dat -- /tmp/public/bts_million &&
		rm -r /tmp/public/limited.dat*
}

# Set perf_event_paranoid to 2, the strictest value in mainline Linux. (Debian's patch adds 3.)
# Copy the programs, because user 65534 may not be allowed to read their folder.
unprivileged() {
	user="setpriv --reuid 65534 --regid 65534 --clear-groups"
	before=$(cat /proc/sys/kernel/perf_event_paranoid)
	mkdir -p /tmp/public && chmod 777 /tmp/public &&
		cp "$progs/bts_jumps" "$progs/bts_million" /tmp/public || return
	echo 2 >/proc/sys/kernel/perf_event_paranoid
	# shellcheck disable=SC2086 # a command and its options
	says 'nothing lost' $user bts record -o /tmp/public/user.dat -- /tmp/public/bts_jumps &&
		status 0 says '^ok *perf ' $user bts check && limited
	got=$?
	echo "$before" >/proc/sys/kernel/perf_event_paranoid
	bts archive /tmp/public/user.dat && cp -r /tmp/public/user.dat* . && return $got
}
check "a non-root user" unprivileged

check "info reports the recorded side" says '^backend .*user side only' bts info bts_loop.dat

refusals() {
	for words in '-a' '--flight' '-e sched:sched_switch' '--fork'; do
		# shellcheck disable=SC2086 # an option and its argument
		status 125 says 'this needs the tracer' bts_perf $words -o n.dat -- true || return
	done
	status 125 says 'the kernel has no intel_bts: page table isolation is on' \
		bts_perf -k -o n.dat -- true &&
	status 125 bts record --backend none -- true && [ ! -e n.dat ] &&
		status 127 says 'bts: execute: /no/such: No such file' bts_perf -o n.dat -- /no/such &&
		status 126 bts_perf -o n.dat -- /etc/passwd && status 7 bts_perf -o s.dat -- sh -c 'exit 7' &&
		[ ! -e n.dat ]
}
check "bts record fails if perf does not support an option, or if the program cannot run" refusals
[ "$failed" -eq 0 ]
