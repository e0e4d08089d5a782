#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Build the programs for judge.sh in DIR, and record them: record.sh DIR [BTS]
#
# The script needs root, and a kernel with the bts tracer. Run judge.sh to compare the traces with
# the results of valgrind, gcov and other programs. judge.sh may run on any machine on which the
# programs take the same branches as in the recording. With BTS_RECORD=trace-cmd, stock trace-cmd
# records one entry for each branch. With BTS_RECORD=none, the programs are only built. With
# BTS_BUILD_PROGS=0, the programs are only recorded. The variable BTS_PROGRAMS is a list of programs
# to record. All traces except kernel*.dat contain only branches in user space.

set -eu

dir=$1
bts=${2:-bts}
progs=$(cd -P -- "$(dirname -- "$0")/progs" && pwd)

# record NAME COMMAND...: record COMMAND if BTS_PROGRAMS is empty or contains NAME.
record() {
	out=$1
	shift
	case " ${BTS_PROGRAMS:-$out} " in
	*" $out "*) ;;
	*) return ;;
	esac
	if [ "${BTS_RECORD:-bts}" = trace-cmd ]; then
		trace-cmd record -q -p bts -b 100000 -c -O nobts-kernel -O bts-sched -O bts-map \
			-o "$dir/$out.dat" -F "$@" >"$dir/$out.out"
	else
		# shellcheck disable=SC2086 # may be empty
		"$bts" record $side -o "$dir/$out.dat" -- "$@" >"$dir/$out.out" || [ $? -lt 125 ]
		# The kernel cannot always read build IDs. If a trace has none, bts needs the
		# archived files to read the trace on another machine.
		case $out in
		calls-O0-* | mix-*) return ;;	# bts finds these programs in DIR without an archive
		esac
		"$bts" archive "$dir/$out.dat" >"$dir/$out.said"
	fi
}

# record_named NAME COMMAND...: record COMMAND only if BTS_PROGRAMS contains NAME.
record_named() {
	[ -z "${BTS_PROGRAMS:-}" ] || record "$@"
}

# tree NAME SOURCE COMPILER: build the program NAME, and told-NAME, which prints the program's call
# tree (see told.c).
tree() {
	flags="-O2 -g -fno-inline -fno-optimize-sibling-calls -fno-ipa-cp -fno-ipa-sra
		-fno-omit-frame-pointer"
	# shellcheck disable=SC2086 # options
	{
		$3 $flags -o "$1" "$progs/$2"
		$3 $flags -finstrument-functions -c -o "told-$1.o" "$progs/$2"
		gcc $flags -c -o told.o "$progs/told.c"
	}
	$3 -no-pie -o "told-$1" "told-$1.o" told.o
}

mkdir -p "$dir"
cd "$dir"
if [ "${BTS_BUILD_PROGS:-1}" = 1 ]; then
	gcc -O1 -g -fno-inline -Wl,--emit-relocs -o calls "$progs/calls.c"
	gcc -O1 -g -fno-inline -fuse-ld=lld -o calls-lld "$progs/calls.c"
	gcc -O1 -fno-builtin -Wl,-z,lazy -o plt-lazy "$progs/plt.c"
	gcc -O1 -fno-builtin -fcf-protection -Wl,-z,lazy,-z,ibtplt -o plt-ibt "$progs/plt.c"
	gcc -O1 -fno-builtin -Wl,-z,lazy -fuse-ld=lld -o plt-lld "$progs/plt.c"
	# Strip a program without a build ID. Only a CRC links the program to its debug information.
	gcc -O1 -g -fno-inline -Wl,--build-id=none -o linked "$progs/calls.c"
	mkdir -p .debug
	objcopy --only-keep-debug linked .debug/linked.debug
	objcopy --strip-all --add-gnu-debuglink=.debug/linked.debug linked
	# Give the source a relative path in the debug information.
	(cd "$progs" && gcc -O0 -g -o "$OLDPWD/calls-O0" ../progs/calls.c)
	# The script judge.sh treats this program as a kernel.
	gcc -O0 -g -static -no-pie -Wl,--defsym=_stext=_start -o calls-static "$progs/calls.c"
	g++ -O1 -g -o throws "$progs/throws.cc" -lpthread
	g++ -O1 -g -fno-inline -o names "$progs/names.cc" "$progs/names-more.cc"
	flags="-O1 -g -fno-optimize-sibling-calls"
	# shellcheck disable=SC2086 # options
	{
		gcc $flags -o inlines "$progs/inlines.c"
		clang $flags -o inlines-clang "$progs/inlines.c"
		gcc $flags -fno-inline -DINLINED= -o inlines-not "$progs/inlines.c"
	}
	gcc -O1 -g -o signals "$progs/signals.c"
	gcc -O1 -g -o jit "$progs/jit.c"
	gcc -O1 -g -o jitdump "$progs/jitdump.c"
	gcc -O1 -g -o loads "$progs/loads.c" -ldl
	gcc -O1 -g -shared -fPIC -o library.so "$progs/library.c"
	gcc -O1 -g -shared -fPIC -Dtwice=thrice -o other.so "$progs/library.c"
	seq 3000 | sed 's/.*/s = s * & + sink;/' >discarded.h
	for linker in bfd lld; do
		gcc -O1 -g -ffunction-sections -Wl,--gc-sections -fuse-ld=$linker -I. \
			-o discard-$linker "$progs/discard.c"
	done
	gcc -nostdlib -static -o untyped "$progs/untyped.S"
	gcc -O1 -g -static -fuse-ld=lld -o static-lld "$progs/ifunc.c"
	# The compiler must keep conditional jumps, because the profile counts how often each jump
	# is taken. Use DWARF 4, because create_llvm_prof cannot read later versions.
	jumps='-mllvm -phi-node-folding-threshold=0 -mllvm -two-entry-phi-node-folding-threshold=0
		-mllvm -speculate-one-expensive-inst=0'
	# shellcheck disable=SC2086 # options
	clang -O1 -g -gdwarf-4 -fdebug-info-for-profiling -fno-inline -Wl,--build-id,--emit-relocs \
		$jumps -o mix "$progs/mix.c"
	tree tree-c tree.c gcc
	tree tree-cc tree.cc g++
	tree fibers fibers.c gcc
fi
[ "${BTS_RECORD:-bts}" != none ] || exit 0
side=-u
record calls ./calls 12
record calls-lld ./calls-lld 12
record linked ./linked 8
record plt-lazy ./plt-lazy 7
record plt-ibt ./plt-ibt 7
record plt-lld ./plt-lld 7
record calls-O0 ./calls-O0 8
for argument in '' 1 2 3; do
	# shellcheck disable=SC2086 # an optional argument
	record "calls-O0-$argument" ./calls-O0 $argument
done
record mix-1 ./mix 1
record mix-2 ./mix 2
# judge.sh treats this program as the kernel, and archives the program's code as kernel code. So bts
# lacks the real kernel's code. If an interrupt occurs in code of calls.c, bts therefore shows the
# return from the interrupt as a jump. In this case, record the program again.
interrupted() {
	[ -e "$dir/calls-static.dat" ] &&
		"$bts" report --no-lines "$dir/calls-static.dat" 2>/dev/null | grep -qE \
			' (fib|sum|add|mul|apply|choose|odd|even|main)\+0x[0-9a-f]+ -> asm_sysvec'
}
tries=5
record calls-static ./calls-static 8
while interrupted && [ $((tries -= 1)) -gt 0 ]; do
	record calls-static ./calls-static 8
done
record throws ./throws
record names ./names
record inlines ./inlines
record inlines-clang ./inlines-clang
record inlines-not ./inlines-not
record signals ./signals
record jit ./jit
record jitdump ./jitdump
record loads ./loads "$dir/library.so" twice "$dir/other.so" thrice "$dir/library.so" twice
record discard-bfd ./discard-bfd
record discard-lld ./discard-lld
record untyped ./untyped
record static-lld ./static-lld
record tree-c ./tree-c
record tree-cc ./tree-cc
record fibers ./fibers
record sort sh -c 'printf "%s\n" 5 3 9 1 | sort'
record gzip sh -c 'seq 300 | gzip -c | wc -c'
# Replace a program with another program at the same path, as a compiler does.
record moved sh -c 'cp names moving && ./moving && cp calls moving && exec ./moving 5'
record calls-more ./calls 13
# These programs were built by profiles.sh with the profile of the program "mix".
record_named mix-bolted ./mix-bolted 1
record_named mix-sampled ./mix-sampled 1
record_named mix-other ./other/mix 1
record calls-long ./calls 18
[ "${BTS_RECORD:-bts}" = bts ] || exit 0
# The exception that a uprobe raises does not return to the probed instruction, because the kernel
# runs a copy of this instruction.
events=/sys/kernel/tracing
leaf=$(nm tree-c | sed -n 's/ T leaf$//p')
echo "p:bts_leaf $dir/tree-c:0x$leaf" >"$events/uprobe_events"
echo 1 >"$events/events/uprobes/bts_leaf/enable"
record probed ./tree-c
echo 0 >"$events/events/uprobes/bts_leaf/enable"
echo >"$events/uprobe_events"
# Record until any of several functions is called. The call is the last branch.
side="-u --flight=4m --on $dir/names:rust::*"
record flight ./names
# This trace contains the branches into the kernel, but not the branches back to user space. The
# branches of main() fit into the DS buffer.
side="-u --flight"
record filtered ./calls-O0 8
side=-u
# While kernel.dat and kernel-changed.dat are recorded, the kernel changes its code.
# kernel-changed.dat ends before the kernel undoes the change.
kmalloc=/sys/kernel/tracing/events/kmem/kmalloc/enable
side=
record kernel sh -c "echo 1 >$kmalloc; ls | sort; echo 0 >$kmalloc"
record kernel-tree ./tree-c
record kernel-changed sh -c "echo 1 >$kmalloc; ls"
echo 0 >"$kmalloc"
