#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# machine/tests/guest/stress.sh hotplug|switch|random ROUNDS [SEED]: repeat one action while the
# tracer records. After each round, check that every record is accounted for. After the last round,
# check for memory leaks. The output is KTAP. Run this script with machine/vm/run --strict, which
# checks the console for warnings. $BTS_PROGS is the directory with the programs of the selftests.
#
#	hotplug	CPU 1 goes offline and comes online again
#	switch	the tracer alternates between bts and nop, while perf samples and counts
#		events. With BTS_STRESS_PERF_BTS, perf also uses BTS
#	random	each round makes a hundred random changes to settings of up to three
#		instances. Another instance, the witness, is never changed, and traces a
#		sleeping task. At the end, the witness must account for each record. With
#		BTS_STRESS_CIRCULAR, the changes may set bts-circular. The hardware
#		then stores more records than the tracer reads
#
# The last line is "records N", where N is the number of records that the tracer has read. The
# caller compares N with the hardware's counter.

set -u

what=$1
rounds=$2
seed=${3:-1}
cpu1=/sys/devices/system/cpu/cpu1/online
tracing=/sys/kernel/tracing
records=0
failures=0
workers=

cd "$tracing" || exit 1
TMPDIR=$(mktemp -d /tmp/stress.XXXXXX)

fail() {
	failures=$((failures + 1))
	[ "$failures" -gt 10 ] || echo "# round $round: $*"
}

stat() { # NAME [CPU]
	sed -n "s/^$1: //p" "${2:+per_cpu/cpu$2/}bts_stats"
}

# Check that all records of an instance are accounted for. Call this in the instance's directory.
sums() {
	awk -f "$BTS_ACCOUNT" bts_stats > "$TMPDIR/sums" && return
	cat "$TMPDIR/sums"
	return 1
}

# Count the entries that are in the ring buffer, were read, or were overwritten. Check that the
# tracer has written this number of entries.
balanced() {
	sums || fail "records are not accounted for"
	rows=$(($(stat delivered) + $(stat rows)))
	lost=$(($(stat buffer_full) + $(stat dropped_ring_buffer) + $(stat dropped_paused)))
	cat per_cpu/cpu*/stats | awk -v rows="$rows" -v lost="$lost" '
		$1 == "entries:" || $1 == "overrun:" || $1 == "read" { n += $NF }
		END {
			# n also counts the entries that report losses.
			if (n < rows || n > rows + lost) {
				print "# entries", n, "delivered", rows, "losses", lost
				exit 1
			}
		}
	' || fail "entries are not accounted for"
}

# Report whether the kernel contains KASAN or KCSAN. With such a kernel, record only user branches,
# because handling a traced timer tick would take longer than the period of the tick.
debugging() {
	grep -q ' \(kasan_report\|__kcsan_check_access\)$' /proc/kallsyms
}

user_only() { # DIRECTORY
	echo 0 > "$1/options/bts-kernel"
	echo 1 > "$1/options/bts-cpl-filter"
}

everything() {
	echo 1 > options/bts-kernel
	echo 0 > options/bts-cpl-filter
}

# Start two programs, and trace them. The programs spin without system calls, and never end, because
# starting another program takes millions of branches under a debug kernel.
spin() {
	start "$BTS_PROGS/bts_spin_a"
	start "$BTS_PROGS/bts_spin_b"
	# shellcheck disable=SC2086 # split the list into words
	printf '%s\n' $workers > set_ftrace_pid
}

# Start and end programs, and move programs between the CPUs. Pause after each round. Without
# pauses, tracing these programs would leave too little time for other work.
load() {
	while :; do
		"$BTS_PROGS/bts_fork"
		"$BTS_PROGS/bts_threads"
		"$BTS_PROGS/bts_hop"
		sleep 0.1
	done > /dev/null 2>&1
}

# Start a program with a low priority. A debug kernel needs most of the CPU time for CPU hotplug and
# changes of settings, so the programs must not compete with this work.
start() { # COMMAND...
	"$@" &
	workers="$workers $!"
	renice -n 10 -p $! > /dev/null
}

stop_workers() {
	for worker in $workers; do
		kill -9 "$worker" 2> /dev/null
		wait "$worker" 2> /dev/null
	done
	workers=
	# Wait until the workers' programs have ended, and remove perf's files from the tmpfs, so
	# that memory_result() counts neither the programs nor the files.
	while grep -qx 'perf\|bts_.*' /proc/[0-9]*/comm 2> /dev/null; do
		sleep 0.1
	done
	rm -f "$TMPDIR/sample"* "$TMPDIR/bts"*
}

# Print how many KiB of memory are in use and cannot be reclaimed. Leave out slabs, because KASAN
# delays the reuse of slab objects. slab_result() checks the slabs.
in_use() {
	sync
	echo 3 > /proc/sys/vm/drop_caches
	awk '
		$1 == "MemTotal:" { n += $2 }
		$1 == "MemAvailable:" || $1 == "SUnreclaim:" { n -= $2 }
		END { print n }
	' /proc/meminfo
}

# Print the size of each slab cache. KASAN keeps freed objects in a quarantine of up to 1/32 of the
# memory. Shrinking a cache removes the objects of this cache from the quarantine.
slabs() {
	for cache in /sys/kernel/slab/*/shrink; do
		echo 1 > "$cache"
	done
	[ ! -r /proc/slabinfo ] || awk 'NR > 2 { print $1, $2 * $4 }' /proc/slabinfo
}

# ---- hotplug -------------------------------------------------------------------------

# Trace the programs of spin(). In every tenth round, trace all tasks while CPU 1 goes offline, so
# that CPU 1 has records to drain.
hotplug_begin() {
	echo 0 > tracing_on
	echo 256 > buffer_size_kb
	! debugging || user_only .
	echo bts > current_tracer
	spin
	targets=$(cat set_ftrace_pid)
	echo 1 > tracing_on
}

hotplug_round() {
	before=$(stat drains_offline 1)
	if [ $((round % 10)) -eq 1 ] && ! debugging; then
		echo > set_ftrace_pid
		echo 0 > $cpu1 || fail "CPU 1 does not go offline"
		[ "$(stat drains_offline 1)" -gt "$before" ] || fail "CPU 1 was not drained"
		echo "$targets" > set_ftrace_pid
	else
		echo 0 > $cpu1 || fail "CPU 1 does not go offline"
	fi
	[ "$(stat cpus_recording 1)" -eq 0 ] || fail "CPU 1 is offline, but still records"
	before=$(stat records 1)
	echo 1 > $cpu1 || fail "CPU 1 does not come online"
	# CPU 1 must resume recording by itself, without a write to tracefs.
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		[ "$(stat records 1)" -eq "$before" ] || break
		sleep 0.5
	done
	[ "$(stat records 1)" -gt "$before" ] || fail "CPU 1 has not resumed recording"
	echo 0 > tracing_on
	balanced
	echo 1 > tracing_on
}

hotplug_end() {
	echo 0 > tracing_on
	records=$(stat records)
	echo nop > current_tracer
	everything
	echo > set_ftrace_pid
	echo 1 > tracing_on
}

# ---- switch --------------------------------------------------------------------------

perf_sample() {
	while :; do
		perf record -q -a -e cycles -c 1000000 -o "$TMPDIR/sample" sleep 0.3
	done > /dev/null 2>&1
}

perf_count() {
	while :; do
		perf stat -e cycles,branches:u sh -c '/bin/true; /bin/true'
	done > /dev/null 2>&1
}

# Let perf and the tracer compete for BTS. While one of them uses BTS, the other gets EBUSY.
perf_bts() {
	while :; do
		perf record -q --per-thread -e branches:u -c 1 -o "$TMPDIR/bts" "$BTS_PROGS/bts_loop"
		sleep 0.2
	done > /dev/null 2>&1
}

switch_begin() {
	echo 256 > buffer_size_kb
	! debugging || user_only .
	spin
	start perf_sample
	start perf_count
	[ -z "${BTS_STRESS_PERF_BTS:-}" ] || start perf_bts
}

switch_round() {
	# Use /bin/echo, because dash's built-in echo reports every failed write as an I/O error.
	if ! /bin/echo bts > current_tracer 2> "$TMPDIR/error"; then
		grep -q busy "$TMPDIR/error" || fail "$(cat "$TMPDIR/error")"
		[ -n "${BTS_STRESS_PERF_BTS:-}" ] || fail "bts gets EBUSY, but perf uses no BTS"
		grep -qx nop current_tracer || fail "$(cat current_tracer) is still the tracer"
		busy=$((${busy:-0} + 1))
		return
	fi
	sleep 0.2
	echo 0 > tracing_on
	balanced
	records=$((records + $(stat records)))
	echo nop > current_tracer
	[ "$(stat cpus_recording)" -eq 0 ] || fail "nop is the tracer, but a CPU still records"
	echo > trace
	echo 1 > tracing_on
}

switch_end() {
	echo nop > current_tracer
	everything
	echo > set_ftrace_pid
	echo "# EBUSY in ${busy:-0} of $rounds rounds"
	[ "${busy:-0}" -lt "$rounds" ] || fail "bts could not be chosen in any round (EBUSY)"
}

# ---- random --------------------------------------------------------------------------

one_of() { # N: sets $one to a random number from 0 to N - 1
	seed=$(((seed * 1103515245 + 12345) & 0x7fffffff))
	one=$((seed / 65536 % $1))
}

# Write VALUE to FILE. The kernel may refuse VALUE.
try() { # VALUE FILE
	{ echo "$1" > "$2"; } 2> /dev/null
}

any_instance() {
	one_of 3
	case $one in
	0) dir=$tracing ;;
	*) dir=$tracing/instances/stress$one ;;
	esac
	[ -d "$dir" ] || dir=$tracing
}

any_option() {
	one_of 10
	shift "$one"
	option=$1
	# With bts-circular, the CPU overwrites records that the tracer has not read, so the
	# hardware counts more records than the tracer.
	if [ "$option" = bts-circular ] && [ -z "${BTS_STRESS_CIRCULAR:-}" ]; then
		return
	fi
	case $option in
	bts-kernel | bts-cpl-filter) ! debugging || return ;;
	esac
	one_of 2
	try "$one" "$dir/options/$option"
}

any_targets() {
	# shellcheck disable=SC2086 # split the list into words
	set -- $workers
	one_of 3
	case $one in
	0) try "" "$dir/set_ftrace_pid" ;;
	1) try "$1" "$dir/set_ftrace_pid" ;;
	2) /bin/echo "$2" 2> /dev/null >> "$dir/set_ftrace_pid" ;;
	esac
	one_of 2
	try "$one" "$dir/options/function-fork"
}

any_size() {
	one_of 4
	shift "$one"
	try "$1" "$dir/buffer_size_kb"
	one_of 8
	[ "$one" -ne 0 ] || { one_of 2; try $((one * 60 + 4)) "$dir/buffer_subbuf_size_kb"; }
}

# At random, clear the trace, take or free a snapshot, write a marker, or switch an event on or off.
any_buffer() {
	one_of 4
	case $one in
	0) try "" "$dir/trace" ;;
	1) one_of 2; try "$one" "$dir/snapshot" ;;
	2) try "a marker" "$dir/trace_marker" ;;
	3) one_of 2; try "$one" "$dir/events/sched/sched_switch/enable" ;;
	esac
}

any_filter() {
	one_of 2
	shift "$one"
	try "$1" "$dir/events/ftrace/bts_branch/filter"
}

any_reader() {
	timeout 1 dd if="$dir/trace_pipe" of=/dev/null bs=4096 count=20 iflag=nonblock 2> /dev/null
}

any_directory() {
	one_of 2
	one=$((one + 1))
	if [ -d "instances/stress$one" ]; then
		rmdir "instances/stress$one" 2> /dev/null
	elif mkdir "instances/stress$one" && debugging; then
		user_only "instances/stress$one"
	fi
}

# Make one random change. The instances usually have a target, because tracing the user and kernel
# branches of all tasks is too much work for the machine.
any_thing() {
	any_instance
	one_of 14
	case $one in
	0 | 1) any_option bts-user bts-kernel bts-cpl-filter bts-circular bts-block bts-sched \
		bts-map bts-pack bts-sync overwrite ;;
	2 | 3) any_targets ;;
	4) try bts "$dir/current_tracer" ;;
	5) try nop "$dir/current_tracer" ;;
	6) one_of 2; try "$one" "$dir/tracing_on" ;;
	7) one_of 2; try "$one" $cpu1 ;;
	8) any_size 1 16 64 512 ;;
	9) one_of 3; try $((one + 1)) "$dir/tracing_cpumask" ;;
	10) any_directory ;;
	11) one_of 2048; try $((one + 1)) bts_threshold; any_reader ;;
	12) any_buffer ;;
	13) any_filter 0 "from > 0x500000 && to < 0x7fffffffffff" ;;
	esac
}

random_begin() {
	threshold=$(cat bts_threshold)
	echo "# seed $seed"
	mkdir instances/witness
	sleep 1000000 &
	witness=$!
	until grep -q sleep "/proc/$witness/comm" && grep -q 'State:.S' "/proc/$witness/status"; do
		sleep 0.1
	done
	echo "$witness" > instances/witness/set_ftrace_pid
	echo 0 > instances/witness/options/bts-map
	echo bts > instances/witness/current_tracer
	echo 256 > buffer_size_kb
	! debugging || user_only .
	start load
	start load
	try "${workers##* }" set_ftrace_pid
	echo 1 > options/function-fork
}

random_round() {
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		any_thing; any_thing; any_thing; any_thing; any_thing
		any_thing; any_thing; any_thing; any_thing; any_thing
	done
	# Switch tracing off, so that the counters do not change while this function reads them.
	on=
	for dir in . instances/*; do
		[ "$(cat "$dir/tracing_on")" -eq 0 ] || on="$on $dir"
		echo 0 > "$dir/tracing_on"
	done
	for dir in . instances/*; do
		(cd "$dir" && sums) || fail "records of $dir are not accounted for"
	done
	for dir in $on; do
		echo 1 > "$dir/tracing_on"
	done
}

# Check the instance "witness". Its target sleeps, so all records are branches of other tasks. Each
# record must count as "own" if it is an own branch of the tracer, or else as "filtered".
random_end() {
	for dir in . instances/stress1 instances/stress2; do
		[ ! -d $dir ] || echo nop > $dir/current_tracer
	done
	rmdir instances/stress1 instances/stress2 2> /dev/null
	echo 0 > instances/witness/tracing_on
	(cd instances/witness && sums) || fail "the witness has lost records"
	records=$(sed -n 's/^records: //p' instances/witness/bts_stats)
	[ "$records" -gt 0 ] || fail "no branch was recorded"
	[ "$records" -eq $(($(sed -n 's/^filtered: //p' instances/witness/bts_stats) + \
		$(sed -n 's/^own: //p' instances/witness/bts_stats))) ] ||
		fail "instances/witness: some records count neither as filtered nor as own"
	rmdir instances/witness
	kill "$witness"
	echo 1 > $cpu1
	everything
	for option in bts-user bts-map overwrite; do
		echo 1 > options/$option
	done
	for option in bts-circular bts-block bts-sched bts-pack bts-sync function-fork; do
		echo 0 > options/$option
	done
	echo 0 > events/sched/sched_switch/enable
	echo 0 > events/ftrace/bts_branch/filter
	echo 0 > snapshot
	echo 4 > buffer_subbuf_size_kb
	echo 3 > tracing_cpumask
	echo "$threshold" > bts_threshold
	echo 256 > buffer_size_kb
	echo > set_ftrace_pid
	echo 1 > tracing_on
}

# ---- leaks ---------------------------------------------------------------------------

# The kernel's caches fill during the first tenth of the rounds. Check that memory use has not grown
# too much in the later rounds.
memory_result() {
	awk -v before="$used" -v after="$(in_use)" -v rounds="$rounds" '
		BEGIN {
			print "# in use before " before " KiB, after " after
			# Memory use may grow by 64 KiB (the size of the smallest buffer) for each
			# round after the first tenth of the rounds. Always allow growth of 16 MiB.
			limit = 64 * rounds * 9 / 10
			exit after - before > (limit < 16384 ? 16384 : limit)
		}
	'
}

slab_result() {
	slabs > "$TMPDIR/slabs"
	awk -v rounds="$rounds" '
		FNR == NR { was[$1] = $2; next }
		# The sizes of slab caches always vary. So each slab cache may grow by 256 KiB
		# plus 32 bytes per round.
		$2 - was[$1] > 32 * rounds + 262144 {
			print "# " $1 " grew from " was[$1] + 0 " to " $2 " bytes"
			bad = 1
		}
		END { exit bad }
	' "$TMPDIR/slabs.before" "$TMPDIR/slabs"
}

kmemleak_result() {
	# Scan several times, because an old pointer on a stack can hide a leak from a scan.
	for _ in 1 2 3; do
		# The write fails if kmemleak has switched itself off.
		echo scan > $kmemleak || return
		sleep 6
	done
	cat $kmemleak > "$TMPDIR/leaks"
	sed 's/^/# /' "$TMPDIR/leaks"
	[ ! -s "$TMPDIR/leaks" ]
}

result() { # STATUS NUMBER NAME
	[ "$1" -eq 0 ] || printf 'not '
	echo "ok $2 $what: $3"
}

echo "TAP version 13"
kmemleak=/sys/kernel/debug/kmemleak
if [ -e $kmemleak ]; then
	echo "1..4"
	echo scan=600 > $kmemleak
	echo clear > $kmemleak
else
	echo "1..3"
	kmemleak=
fi
round=0
"${what}_begin"
while [ "$round" -lt "$rounds" ]; do
	if [ "$round" -eq $((rounds > 1 ? (rounds + 9) / 10 : 0)) ]; then
		used=$(in_use)
		slabs > "$TMPDIR/slabs.before"
	fi
	round=$((round + 1))
	[ $((round * 10 / rounds)) -eq $(((round - 1) * 10 / rounds)) ] ||
		echo "# round $round of $rounds, $(cut -d ' ' -f 1 /proc/uptime) s after boot"
	"${what}_round"
done
stop_workers
"${what}_end"
[ "$failures" -eq 0 ]
result $? 1 "$rounds rounds, each record accounted for"
memory_result
result $? 2 "the memory in use has not grown too much"
slab_result
result $? 3 "no slab cache has grown too much"
[ -z "$kmemleak" ] || {
	kmemleak_result
	result $? 4 "kmemleak finds no leak"
}
echo "# records $records"
rm -rf "$TMPDIR"
[ "$failures" -eq 0 ]
