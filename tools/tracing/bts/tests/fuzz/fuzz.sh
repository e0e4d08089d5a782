#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Fuzz the tool's inputs with AFL++: fuzz.sh DIR SECONDS [ENTRY...]. Print KTAP.
#
#	trace	trace.dat, version 7 with compressed data, for five commands
#	perf	perf.data
#	gdb	the packets of gdb
#	map	the symbols of a JIT compiler
#	elf	a program: ELF, DWARF, exception tables
#	killed	the beginning of a trace whose recording was killed
#	chunks	the data of one CPU in a trace whose recording was killed
#
# The tool is built in DIR by afl-clang-fast, with ASan and UBSan. The test of an ENTRY fails if an
# input crashes the tool or keeps the tool busy for ten seconds. AFL++ saves such inputs in
# DIR/ENTRY/default. The tool's sources must be in a kernel source tree.

set -eu

here=$(cd -P -- "$(dirname -- "$0")" && pwd)
mkdir -p "$1/tool"
dir=$(cd -P -- "$1" && pwd)
seconds=$2
shift 2
[ $# -gt 0 ] || set -- trace perf gdb map elf killed chunks
tool=$here/../..
src=$tool/src
tree=$tool/../../..
# shellcheck source=tools/tracing/bts/tests/ktap.sh
. "$here/../ktap.sh"

export AFL_QUIET=1 AFL_NO_UI=1 AFL_SKIP_CPUFREQ=1 AFL_NO_AFFINITY=1 AFL_USE_ASAN=1 AFL_USE_UBSAN=1
export AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1
export ASAN_OPTIONS=abort_on_error=1:symbolize=0:detect_leaks=0:allocator_may_return_null=1

build() {
	make -s -C "$tool" O="$dir/tool" CC=afl-clang-fast HOSTCC=gcc "$dir/tool/bts" || return
	objcopy --redefine-sym main=tool_main "$dir/tool/bts-in.o" "$dir/tool/fuzz-in.o" || return
	# shellcheck disable=SC2046 # libraries
	afl-clang-fast -O1 -D_GNU_SOURCE -o "$dir/fuzz" "$here/fuzz.c" "$dir/tool/fuzz-in.o" "$dir/tool/libbts.a" \
		$(pkg-config --libs libtracefs libtraceevent libelf libdw libzstd ncursesw) -liberty -lpthread
}

# build_writer PROGRAM WORD...: build a program that writes a trace. Each WORD is passed to gcc.
build_writer() {
	out=$1
	shift
	gcc -g -std=gnu11 -D_GNU_SOURCE -DVERSION='"fuzz"' -I"$src" -I"$tool/kernel" \
		-I"$tree/kernel/trace" -I"$tree/tools/include" -o "$dir/$out" "$@" \
		"$src"/record/writer*.c "$src/record/pages.c" "$src/record/made_formats.c" \
		"$src/symbols/vdso.c" "$src/symbols/vdso32.c" "$src"/lib/*.c \
		"$tree/kernel/trace/bts/pack.c" -lzstd
}

# Make a trace with JIT-compiled functions, and with a program that throws exceptions.
make_seeds() {
	g++ -O1 -g -no-pie -static-libgcc -Wl,--build-id=none -o "$dir/throws" \
		"$here/../trace/progs/throws.cc" -lpthread || return
	build_writer odd "$here/../record/odd.c" "$src/symbols/archive.c" || return
	start=0x$(nm -C "$dir/throws" | sed -n 's/ [tT] main$//p') || return
	"$dir/odd" "$dir/seed.dat" "$start"
}

# Make the files that two killed recordings leave behind. The first recording is killed after it has
# written some chunks. The second recording is killed while it copies the chunks.
make_killed() {
	build_writer recorder -DBRANCHES=30000 -Wl,--wrap=write "$here/../record/killed.c" || return
	rm -f "$dir/whole.dat"
	writes=$("$dir/recorder" "$dir/whole.dat") || return
	for last in $((writes / 2)) $((writes - 1)); do
		rm -rf "$dir/killed-$last"
		mkdir "$dir/killed-$last"
		! "$dir/recorder" "$dir/killed-$last/killed.dat" "$last" || return
	done
}

# seed ENTRY FILE
seed() {
	rm -rf "${dir:?}/$1"
	mkdir -p "$dir/$1/seeds"
	cp "$2" "$dir/$1/seeds/0"
}

# fuzz ENTRY FILE COMMAND...: run the fuzzer for $seconds seconds (0 means without a time limit).
fuzz() {
	entry=$1
	shift
	afl-fuzz -i "$dir/$entry/seeds" -o "$dir/$entry" -V "$seconds" -m none -t 10000 -- \
		"$dir/fuzz" "$@" >"$dir/$entry.log" 2>&1 || return
	stats=$dir/$entry/default/fuzzer_stats
	awk '/^(execs_done|execs_per_sec|bitmap_cvg|corpus_count|saved_crashes|saved_hangs) / {
		printf "# %s %s\n", $1, $3 }' "$stats"
	! grep -q '^saved_\(crashes\|hangs\) *: [1-9]' "$stats"
}

# fuzz_restore ENTRY FILE: fuzz bts restore, mutating only this FILE of the killed recording.
fuzz_restore() {
	(
		cd "$dir/run-$1"
		FUZZ_BESIDE=$dir/killed-$((writes / 2))
		export FUZZ_BESIDE
		fuzz "$1" "$2" restore killed.dat
	)
}

run() { # ENTRY
	work=$dir/$1.dat
	cp "$dir/seed.dat" "$work"
	rm -rf "$work.archive"
	cp -r "$dir/seed.dat.archive" "$work.archive"
	case $1 in
	trace)
		seed trace "$dir/seed.dat"
		fuzz trace "$work" report "$work" -- replay --inline "$work" -- top -b line "$work" \
			-- info --stats --json "$work" -- cover -f pcs "$work"
		;;
	perf)
		"$dir/tool/bts" dump -f perf -o "$dir/perf.data" -i "$dir/seed.dat" >"$dir/said" || return
		seed perf "$dir/perf.data"
		fuzz perf "$dir/perf.in" import -o /dev/null "$dir/perf.in"
		;;
	gdb)
		# shellcheck disable=SC2016 # gdb's packets
		printf '+$qSupported:multiprocess+;Qbtrace:bts+#00$vCont?#49$bs#d5+$qXfer:btrace:read:all:0,fff#08$g#67' \
			>"$dir/packets"
		seed gdb "$dir/packets"
		fuzz gdb - gdb --stdio "$work"
		;;
	map)
		seed map "$work.archive/perf-77.map"
		fuzz map "$work.archive/perf-77.map" top "$work" -- replay "$work"
		;;
	killed)
		mkdir -p "$dir/run-killed"
		seed killed "$dir/killed-$((writes / 2))/killed.dat.new"
		cp "$dir/killed-$((writes - 1))/killed.dat.new" "$dir/killed/seeds/1"
		fuzz_restore killed killed.dat.new
		;;
	chunks)
		mkdir -p "$dir/run-chunks"
		seed chunks "$dir/killed-$((writes / 2))/killed.dat.new.cpu0"
		fuzz_restore chunks killed.dat.new.cpu0
		;;
	elf)
		mkdir -p "$work.archive/root"
		seed elf "$dir/throws"
		fuzz elf "$work.archive/root/throws" replay --inline "$work" -- top -b line "$work"
		;;
	esac
}

n=0
echo "TAP version 13"
echo "1..$#"
{ build && make_seeds && make_killed; } >"$dir/build.log" 2>&1 || {
	cat "$dir/build.log"
	exit 1
}
for entry; do
	run "$entry" && status=0 || status=1
	result "$status" "$entry: $seconds s"
done
exit "$failed"
