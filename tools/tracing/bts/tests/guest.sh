#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Test the tool and its recordings, as root, on a kernel with the tracer. The hardware may be
# emulated. Print KTAP.
#
#	guest.sh PROGRAMS	a folder with the built programs of the selftests (test.d/bts/progs)
#
# The program bts_compare checks the traces. Each trace must contain exactly the user-space
# branches of a known program, in order. Each program's source lists the branches.

set -u

progs=$1
tracefs=/sys/kernel/tracing
# shellcheck source=tools/tracing/bts/tests/checks.sh
. "${0%/*}/checks.sh"
work=$(mktemp -d)
cd "$work" || exit 1

no_instance() {
	[ -z "$(ls "$tracefs/instances")" ] || { ls "$tracefs/instances"; return 1; }
}

# --- record ---------------------------------------------------------------------------

records() { # PROGRAM
	says 'nothing lost' bts record -u -o t.dat -- "$progs/$1" &&
		exact t.dat "$1" && no_instance
}

for program in bts_jumps bts_signal bts_fork; do
	check "record: $program, exactly the expected branches" records $program
done
check "record: bts_compare rejects wrong branches" not exact t.dat bts_fault

# begins_at ADDRESS OPTION...: the first branch of the trace must lead to ADDRESS.
begins_at() {
	wanted=$1
	shift
	bts record "$@" -o begin.dat -- "$progs/bts_jumps" && rows begin.dat >branches &&
		head -n 3 branches && [ "$(awk '{ print $5; exit }' branches)" = "$wanted" ]
}
# The program begins at 401000. With --fork, the trace begins earlier, before the child of bts calls
# execve().
program_first() {
	begins_at 401000 -u && begins_at 401000 -a -u && begins_at 401000 -u --flight=1m &&
		bts record -o begin.dat -- "$progs/bts_jumps" &&
		says 'no branch of the trace matches' bts top --dso bts begin.dat
}
check "record: the trace begins with the program, not with bts" program_first
before_exec() {
	bts record --fork -u -o begin.dat -- "$progs/bts_jumps" && exact begin.dat bts_jumps &&
		says 'execvp' bts report --no-lines begin.dat
}
check "record: --fork begins before execve" before_exec

both_sides() {
	says 'nothing lost' bts record -o k.dat -- "$progs/bts_fault" && exact k.dat bts_fault -k
}
check "record: in a trace of both sides, no branch is missing" both_sides

kernel_code() {
	bts report --no-lines k.dat | tail -n 1 >bill
	cat bill
	[ -s k.dat.archive/kcore ] && not grep -q 'without code' bill && grep ' 0 gaps' bill
}
[ ! -e /proc/kcore ] || check "record: the kernel's code is saved" kernel_code

waits() {
	says 'nothing lost' bts record -u -m 4k -o t.dat -- ls -R /etc &&
		says ' 1,000,[0-9]* branches.*nothing lost' \
			bts record -u -m 64k -o t.dat -- "$progs/bts_million"
}
check "record: a small buffer loses nothing" waits

loses() {
	says 'lost [0-9,]* (ring buffer full)' \
		bts record --no-block -m 4k -o t.dat -- ls -l /etc &&
		bts report --no-lines t.dat >report.txt && grep -m 1 LOST report.txt
}
check "record: --no-block loses branches, and reports the loss" loses

both_at_once() {
	bts record -u -o a.dat -- "$progs/bts_jumps" &
	bts record -u -o b.dat -- "$progs/bts_fork" &&
		wait $! && exact a.dat bts_jumps && exact b.dat bts_fork && no_instance
}
check "record: two recordings at the same time" both_at_once

stops() { # SIGNAL
	bts record -u -o stop.dat -- sleep 1000 &
	bts=$!
	wait_for pgrep -x sleep || return
	kill "-$1" $bts
	status "$2" wait $bts
}
terminated() {
	stops TERM 0 && says 'branches' bts info stop.dat && not pgrep -x sleep && no_instance
}
check "record: if a signal ends the recording, the trace is complete" terminated

killed() {
	rm -f stop.dat
	stops KILL 137 || return
	pkill -x sleep
	wait_for no_instance && [ ! -e stop.dat ]
}
check "record: if bts is killed, tracefs is restored" killed

some_data() {
	cat cut.dat.new.cpu* | grep -q .
}
restores() {
	# Without the sleep, the trace would be large, and the bts commands below would be too slow.
	sh -c 'while sleep .05; do :; done' &
	sleeper=$!
	bts record -u -p $sleeper -o cut.dat &
	bts=$!
	wait_for some_data || return
	kill -9 $bts
	status 137 wait $bts || return
	wait_for no_instance
	kill -9 $sleeper
	[ ! -e cut.dat ] && status 125 says 'bts restore cut.dat' bts record -u -o cut.dat -- true &&
		says '[0-9] branches, [0-9]* tasks, .*recorder killed' bts restore cut.dat &&
		says 'recorder killed' bts info cut.dat &&
		says 'branches, [0-9]* tasks, .*lost ? (recorder killed[^)]*), 0 gaps' bts top -n 3 cut.dat &&
		says 'LOST branches (recorder killed)' bts report --no-lines --tail 2 cut.dat &&
		not ls cut.dat.new* &&
		bts record -u -o cut.dat -- true
}
check "record: if bts is killed, bts restore completes the trace" restores

no_program() {
	cp t.dat old.dat
	status 127 says 'bts: execute: /no/such: No such file' bts record -o old.dat -- /no/such &&
		status 127 bts record -o old.dat -- no-such-program &&
		status 126 bts record -o old.dat -- /etc/passwd &&
		cmp t.dat old.dat && no_instance
}
check "record: no such program; the older trace stays" no_program

link_in_path() {
	mkdir -p path && ln -sfn / path/true && PATH=$PWD/path:$PATH bts record -u -o link.dat -- true
}
check "record: when bts searches PATH for a program, it skips a link to a directory" link_in_path

# shellcheck disable=SC2016 # expanded by the recorded shell
ends_as() {
	status 7 bts record -u -o old.dat -- sh -c 'exit 7' &&
		status 139 bts record -u -o s.dat -- sh -c 'kill -SEGV $$' && cmp t.dat old.dat.old &&
		bts info old.dat && status 0 bts record -u --as nobody -o u.dat -- id -u >ids &&
		[ "$(cat ids)" = "$(id -u nobody)" ] && [ "$(stat -c %a u.dat)" = 600 ]
}
check "record: bts returns the command's status, keeps an older trace, and obeys --as" ends_as

# Check for branches, because tracing_on is 1 even before the tool has configured its instance.
delivered() {
	grep -q '^delivered: [1-9]' "$tracefs/instances/bts-$bts/bts_stats"
}

pids() {
	"$progs/bts_spin_a" &
	spin=$!
	bts record -u -p $spin -m 64k -o p.dat &
	bts=$!
	wait_for delivered
	kill -9 $spin
	status 0 wait $bts && says '1 task,.*nothing lost' bts info p.dat &&
		status 125 says 'No such process' bts record -p $spin
}
check "record -p: a process, until it ends" pids

until_told() {
	"$progs/bts_spin_a" &
	spin=$!
	bts record -u -p $spin -m 4k -o p.dat 2>said_it &
	bts=$!
	wait_for delivered
	kill -INT $bts
	status 0 wait $bts && kill $spin && says '1 task,.*nothing lost' cat said_it
}
check "record -p: a process that continues after the recording" until_told

all_tasks() {
	bts record -a -u -o t.dat -- "$progs/bts_jumps" && rows t.dat >branches &&
		"$progs/bts_compare" -p "$(awk '$5 == "401000" { print $1; exit }' branches)" \
			"$progs/bts_jumps.expect" branches && no_instance
}
check "record: all tasks" all_tasks

threads() {
	python3 -c 'import threading, time
for i in range(3): threading.Thread(target=lambda: time.sleep(1000)).start()
time.sleep(1000)' &
	process=$!
	wait_for test -e /proc/$process/task || return
	wait_for sh -c "[ \$(ls /proc/$process/task | wc -l) -eq 4 ]" || return
	bts record -u -p $process -o p.dat &
	bts=$!
	wait_for sh -c "[ \$(wc -l <$tracefs/instances/bts-$bts/set_ftrace_pid) -eq 4 ]"
	found=$?
	kill $process
	wait $bts
	return $found
}
check "record: a process with its threads" threads

on_cpu() {
	bts record -u -C 1 -o t.dat -- taskset -c 1 "$progs/bts_jumps" &&
		exact t.dat bts_jumps && says '^cpu  *1:' bts info t.dat &&
		not grep -q '^cpu  *0:' words
}
check "record: one CPU" on_cpu

# A task must be shown with its latest name, even if it was renamed on another CPU.
renamed() {
	for cpus in '0 1' '1 0'; do
		# shellcheck disable=SC2086 # two CPUs
		set -- $cpus
		bts record -u -o t.dat -- taskset -c "$1" taskset -c "$2" sleep 0.01 &&
			says '^ *sleep-' trace-cmd report -i t.dat || return
	done
}
check "record: a task that moves to another CPU is shown under its latest name" renamed

# shellcheck disable=SC2016 # expanded by the recorded shell
many() {
	bts record -u -o t.dat -- sh -c 'i=0; while [ $i -lt 100 ]; do (:); i=$((i+1)); done' &&
		says '101 tasks,.*nothing lost' bts info t.dat
}
check "record: a hundred children" many

with_event() {
	bts record -u -e syscalls:sys_enter_getppid -o t.dat -- "$progs/bts_syscall" &&
		bts report --no-lines t.dat >report.txt &&
		says '-> entry_SYSCALL_64' grep -B 1 'sys_enter_getppid' report.txt &&
		status 125 says 'bts: enable: no:such' bts record -e no:such -- true
}
check "record: an event is a row at the right place" with_event

full_disk() {
	mkdir -p small
	mount -t tmpfs -o size=1M none small || return
	status 125 says 'No space left' bts record -o small/t.dat -- \
		sh -c 'while :; do ls /; done' >/dev/null && not grep 'No such file' words
	full=$?
	bts info small/t.dat | tail -n 1 >summary
	bts report --no-lines small/t.dat | tail -n 1 >counted
	umount small
	cat summary counted
	# bts info must print the counts that bts report finds by reading all branches.
	counts='\([0-9]* branches, [0-9]* tasks*, .*lost [0-9]* (not written to the file)\).*'
	sed -n "s/\([0-9]\),\([0-9]\)/\1\2/g; s/^$counts/\1/p" summary >wanted
	sed -n "s/^# $counts/\1/p" counted >got
	[ $full -eq 0 ] && [ -s wanted ] && diff wanted got && no_instance
}
check "record: if the disk is full, the earlier part of the trace is kept" full_disk

under_nohup() {
	(
		trap '' HUP
		exec bts record -u -o h.dat -- sleep 0.4
	) &
	wait_for pgrep -x sleep
	kill -HUP $!
	wait $! && says '^status *0' bts info h.dat
}
check "record: under nohup, SIGHUP does not end the recording" under_nohup

live() {
	"$progs/bts_spin_a" &
	spin=$!
	status 0 bts top --live --delay 0.05 --count 2 --pid $spin >live.txt
	got=$?
	kill -9 $spin
	[ $got -eq 0 ] && [ "$(grep -c 'spin\|_start' live.txt)" -ge 2 ] && no_instance &&
		not ls /tmp/bts-live-*
}
check "top --live: two recordings of a running process" live

# --- The flight recorder --------------------------------------------------------------

# bts must know the functions' names even if the rows that describe the mappings were overwritten.
flight() {
	bts record -u --flight=64k -o f.dat -- "$progs/bts_million" &&
		says '^[0-9]\{1,3\},[0-9]* branches.*nothing lost' bts info f.dat &&
		says '_start?+0x7 -> _start?+0x5 ' bts report --no-lines --tail 9 f.dat
}
check "flight: the latest of a million branches" flight

on_event() {
	bts record --flight=256k --on 'syscalls:sys_enter_write if fd == 1' --rearm 1 -o f.dat -- \
		sh -c 'echo a; sleep 1; echo b; sleep 1; echo c' && [ -e f.dat ] && [ -e f.dat.1 ] &&
		[ ! -e f.dat.2 ] && bts report --no-lines f.dat | tail -n 5 | grep -q 'traceoff\|tracing_off'
}
check "flight: with --on EVENT and --rearm 1, bts writes two traces" on_event

on_function() {
	bts record --flight --on do_sys_openat2 -o g.dat -- cat /dev/null && [ -e g.dat ] &&
		status 125 bts record --flight --on no_such_function -o h.dat -- true &&
		[ -z "$(cat "$tracefs/dynamic_events")" ]
}
check "flight: --on a kernel function" on_function

# shellcheck disable=SC2016 # expanded by the recorded shell
on_signal() {
	status 0 bts record -u --flight --on signal:SEGV -o s.dat -- sh -c 'kill -SEGV $$' &&
		[ -e s.dat ] &&
		says 'has not happened' bts record -u --flight --on signal:SEGV -o n.dat -- true &&
		[ ! -e n.dat ]
}
check "flight: --on with a signal that occurs, and with one that does not" on_signal

# --- info, archive, check -------------------------------------------------------------

info() {
	says '^command .*bts_fault' bts info k.dat && says '^kernel ' bts info k.dat &&
		says '^records: [1-9]' bts info --stats k.dat
}
check "info: command, kernel and counters" info

archive() {
	cp "$progs/bts_as" prog
	bts record -u -o r.dat -- ./prog -h
	bts report --no-lines r.dat >before
	bts archive r.dat && mv prog gone && bts report --no-lines r.dat >after &&
		cmp before after && [ -n "$(find r.dat.archive/.build-id -type f)" ] &&
		[ -e r.dat.archive/vdso.so ] && [ ! -e r.dat.archive/kcore.later ]
}
check "archive: a trace reads the same without the binaries" archive
# Copy the trace, but not its archive, as if trace-cmd had recorded the trace.
archive_kernel() {
	cp k.dat late.dat && bts archive late.dat && [ -s late.dat.archive/kcore.later ]
}
[ ! -e /proc/kcore ] || check "archive: the kernel's code, for a trace of both sides" archive_kernel

# The program bts_jumps has no build ID, so bts compares the file's device, inode and ctime.
unproven() {
	cp "$progs/bts_jumps" same && sleep 2 && bts record -u -o c.dat -- ./same &&
		bts top -n 0 c.dat >counts && not grep '/same: ' counts && grep ' _start  (same)' counts &&
		touch same && bts top -n 0 c.dat >counts && grep ' _start?  (same)' counts &&
		says "^# $work/same: may have changed since the recording" cat counts &&
		bts top --json c.dat | grep "\"$work/same\",\"state\":\"may have" &&
		bts archive c.dat && [ ! -e "c.dat.archive/root/$work/same" ]
}
check "names: a file that has no build ID and may have changed" unproven
changed() {
	cp /bin/true other && bts record -u -o c.dat -- ./other && cp /bin/false other &&
		says "^# $work/other: has changed since the recording" bts top -n 0 c.dat &&
		rm other && says "^# $work/other: cannot be read" bts top -n 0 c.dat
}
check "names: a file that has changed" changed

check "check: this machine" says 'Branches can be recorded here' bts check
check "check: the probe" says 'All branches are as expected' bts check --probe

held_by_perf() {
	perf record -q -o perf.data -e branches:u -c 1 sleep 1000 2>/dev/null &
	wait_for pgrep -x sleep
	sleep 0.5
	status 125 says 'in use by perf' bts record -o h.dat -- true
	one=$?
	status 1 says '^NO .*in use by perf' bts check
	two=$?
	pkill -x sleep
	wait
	[ $one$two = 00 ] && no_instance
}
command -v perf >/dev/null && check "bts check and bts record say that perf uses BTS" held_by_perf

# --- Misuse ---------------------------------------------------------------------------

commands=$(bts -h | sed -n 's/^  \([a-z]*\) .*/\1/p')

help() {
	status 0 bts -h && status 2 bts && status 2 bts nonsense || return
	for command in $commands; do
		status 0 says "^Usage: bts $command" bts "$command" -h || return
		misused=2
		[ "$command" != record ] || misused=125
		status $misused says "^bts $command: " bts "$command" --nonsense || return
	done
}
check "each command: help, and an unknown option" help

# The Makefile defines the version.
version() {
	number=$(sed -n 's/^VERSION.*= *//p' "${0%/*}/../Makefile")
	[ "$number" ] && status 0 says "^bts $number\$" bts --version &&
		status 0 says "^recorded .*(bts $number)\$" bts info r.dat
}
check "the tool prints its version, and stores it in each trace" version

misuse() {
	for words in '' '-p x' '-p 1,' '-p 1 true' '-p 1 -a' '-m 1 true' '-m 1x true' '-C x true' \
		'--rearm 1 true' '--on exit true' '--flight --on signal:NONE true' '--flight --on a: true' \
		'-p 1 --fork' '-p 1 --as root' '--as no-such-user true' '--repeat 0 true' '--repeat 2 -a' '--until-fail 1 true' \
		'--repeat 2 --flight true' '-o - true' \
		'-o' '--flight=0 true'; do
		# shellcheck disable=SC2086
		status 125 bts record $words || return
	done
}
check "record: options that exclude each other" misuse

# Record a shell loop with NUMBER iterations.
count_to() { # NUMBER FILE
	bts record -u -o "$2" -- sh -c "i=0; while [ \$i -lt $1 ]; do i=\$((i + 1)); done"
}
diff_status() {
	# The branches of dash depend on the number of digits in its parent's PID, so use only PIDs
	# of at least four digits.
	while [ "$(sh -c 'echo $$')" -lt 1000 ]; do
		:
	done
	count_to 3 three.dat && count_to 3 again.dat && count_to 5 five.dat &&
		status 0 says 'no difference' bts diff three.dat again.dat &&
		status 1 says '[1-9][0-9]* difference' bts diff three.dat five.dat &&
		status 1 says '"kind":"loop"' bts diff --json three.dat five.dat
}
check "diff: equal runs, and runs that differ" diff_status

# In why.dat, prlimit64() fails, because the new soft limit exceeds the hard limit. The call to
# kill() fails in why.dat, but succeeds in good.dat.
why() {
	# shellcheck disable=SC2016 # expanded by the recorded shell
	bts record -e raw_syscalls:sys_exit -o good.dat -- sh -c 'kill -s 0 $$; :' &&
		bts record -e raw_syscalls:sys_exit -o why.dat -- \
			sh -c 'ulimit -S -n 64; ulimit -H -n 32; kill -s 0 999999999; :' || return
	status 0 says 'failed with EINVAL' bts why --errno EINVAL why.dat &&
		status 0 says '^compared with sh' bts why --errno 22 why.dat &&
		status 0 says '^   1 do_prlimit+' bts why --call prlimit64 why.dat &&
		status 0 says '"hypothesis":true' bts why --json --errno ESRCH why.dat &&
		status 0 says 'kill() returned 0 in good.dat' \
			bts why --against good.dat --errno ESRCH why.dat &&
		status 1 says 'options match no failed call' bts why --errno EXDEV why.dat &&
		status 1 says 'options match no failed call' bts why --errno EWOULDBLOCK why.dat &&
		status 2 bts why --errno EWHAT why.dat && status 2 bts why -u why.dat &&
		status 1 says 'the trace has no system calls' bts why t.dat
}
check "why: the check that refused a system call" why

# A signal interrupts a system call. The handler's rt_sigreturn() must not count as a failed call.
why_interrupted() {
	# shellcheck disable=SC2016 # expanded by the recorded shell
	bts record -e raw_syscalls:sys_exit -o eintr.dat -- \
		sh -c 'trap : USR1; (sleep .1; kill -USR1 $$) & wait' || [ $? -gt 128 ] || return
	bts why --errno EINTR eintr.dat >eintr && grep ') failed with EINTR' eintr &&
		! grep sigreturn eintr
}
check "why: a signal interrupts a system call" why_interrupted

repeats() {
	# If an earlier trace had the same name, its archive must be removed.
	mkdir -p r.passed.1.dat.archive && touch r.passed.1.dat.archive/older || return
	# shellcheck disable=SC2016 # expanded by the recorded shell
	bts record -u --repeat 9 --until-fail 2 -o r.dat -- sh -c '
		echo >>runs; [ $(wc -l <runs) -lt 3 ]' || return
	ls r.*dat
	[ "$(echo r.*.dat)" = 'r.failed.1.dat r.failed.2.dat r.passed.1.dat r.passed.2.dat' ] &&
		[ ! -e r.dat ] && [ -e r.passed.1.dat.archive/vdso.so ] &&
		[ ! -e r.passed.1.dat.archive/older ] && status 1 says '^  1.000       0       2' \
			bts diff r.passed.*.dat --against r.failed.*.dat
}
check "record: with --repeat, each trace's name tells whether the run passed" repeats

# bts must notice SIGINT even between two runs.
repeats_until_interrupted() {
	bts record -u --repeat 40 -o i.dat -- true &
	bts=$!
	wait_for test -e i.passed.3.dat
	kill -INT $bts
	wait $bts && [ ! -e i.passed.40.dat ]
}
check "record: SIGINT ends --repeat" repeats_until_interrupted

# If the output is a device, bts must neither replace it nor leave files next to it.
to_device() {
	mkdir devices && mknod devices/null c 1 3 || return
	bts record -u -o devices/null -- true && status 125 bts record -u --repeat 2 -o devices/null -- true &&
		[ "$(ls devices)" = null ] && [ -c devices/null ]
}
check "record: to a device" to_device

no_file() {
	status 125 says 'bts: create: /no/dir/t.dat: ' bts record -o /no/dir/t.dat -- true || return
	for command in info report archive replay top 'graph main' 'cover -f lcov' 'dump -f csv'; do
		# shellcheck disable=SC2086 # a command and its options
		for file in no.dat "$progs/bts_jumps" /dev/null; do
			status 1 says '^bts: ' bts $command $file || return
		done
		# Of these commands, only bts cover accepts several traces.
		[ "$command" != 'cover -f lcov' ] || continue
		# shellcheck disable=SC2086
		status 2 bts $command t.dat another.dat || return
	done
	status 1 says '^bts: read: another.dat: ' bts cover -f lcov t.dat another.dat || return
	# With several traces, the option -i is not allowed.
	status 2 bts cover -f lcov -i t.dat r.dat && status 2 bts dump -f bolt -i t.dat r.dat &&
		status 2 bts diff -i t.dat r.dat r.dat || return
	status 2 bts replay --dso libc.so.6 r.dat && status 2 bts dump -f folded --from main r.dat &&
		status 2 bts graph --to main main r.dat || return
	status 2 bts graph --head 9 main r.dat && status 2 bts top --head 9 r.dat &&
		status 2 bts dump -f folded --head 9 r.dat && status 2 bts dump -f bolt --head 9 r.dat &&
		status 2 bts diff --head 9 t.dat r.dat && status 2 bts cover --head 9 -f lcov r.dat &&
		status 2 bts why --head 9 r.dat && status 2 bts tui --head 9 r.dat || return
	status 3 says '^bts: ' bts diff t.dat no.dat && status 2 bts diff t.dat &&
		status 2 bts diff t.dat --against && status 2 bts diff --against t.dat
}
check "no file, or a wrong file" no_file

no_rights() {
	chmod 755 .
	user="setpriv --reuid 65534 --clear-groups"
	# shellcheck disable=SC2086 # a command and its options
	status 125 says 'Permission denied; the tracer needs root' \
		$user bts record --backend tracer -o /tmp/nobody.dat -- true &&
		status 0 says '^NO   tracefs .* as root' $user bts check &&
		chmod 644 k.dat && status 1 says 'Permission denied' $user bts archive k.dat &&
		[ "$(wc -l <words)" -eq 1 ]
}
check "record: without rights" no_rights

full_output() {
	full='bts: write: standard output: No space'
	status 1 says "$full" sh -c 'bts info k.dat > /dev/full' &&
		status 3 says "$full" sh -c 'bts diff k.dat k.dat > /dev/full' &&
		status 125 says "$full" sh -c 'bts record -h > /dev/full'
}
check "a failed write of the output is an error" full_output

check "at the end: tracefs is unchanged" no_instance

cd /
rm -rf "$work"
echo "1..$total"
[ "$failed" -eq 0 ]
