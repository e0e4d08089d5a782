#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Test bts with real-world programs: corpus.sh build|record|judge DIR BTS
#
# Run "build" and "judge" on the host, and "record" in a guest. Traces must not contain gaps. If the
# branches allow several call stacks, bts guesses the stack. This may happen only for programs with
# fibers, goroutines or coroutines. The calls within an object are compared with the calls that
# callgrind counts (arcs.py). The counts differ for these reasons:
#
#  - If function A jumps to function B, and B jumps back to the beginning of A, callgrind counts the
#    second jump as a call, but bts counts it as a loop. Our programs are built without such jumps.
#  - callgrind misses some jumps into code without symbols.
#  - The guest and the host have different processors and heap addresses. So branches differ if
#    code depends on the processor model, or uses addresses as keys of hash tables.
#
# Therefore bts and callgrind must agree on at least 97 % of the calls in Debian's stripped
# programs, and on all calls in most other programs. The calls of 32-bit programs and of Go programs
# are not compared, because the host's valgrind does not run them. Static programs are not compared,
# because calls in their C library depend on the processor model. judge.sh tests jumps between
# stacks, and jumps out of signal handlers.

set -u

what=$1
dir=$2
bts=$3
trace=$(cd -P -- "$(dirname -- "$0")" && pwd)
progs=$trace/progs
# shellcheck source=tools/tracing/bts/tests/ktap.sh
. "$trace/../ktap.sh"
cc1=$(gcc -print-prog-name=cc1)

compilers='gcc clang'
linkers='bfd lld'

# Columns: NAME GUESSES PERCENT OBJECT COMMAND. If GUESSES is "none", bts must not guess stacks. bts
# and callgrind must agree on at least PERCENT % of OBJECT's calls. If PERCENT is -, skip this test.
list() {
	for compiler in $compilers; do
		for linker in $linkers; do
			for level in 0 2 3; do
				name=$compiler-$linker-O$level
				echo "$name none 100 ./$name ./$name 9"
			done
			name=static-$compiler-$linker
			echo "$name none - - ./$name 9"
			name=c++-$compiler-$linker
			echo "$name none 100 ./$name ./$name"
		done
	done
	cat <<-END
	signals		none	-	-		./signals
	jumps		none	-	-		./jumps
	exceptions	none	-	-		./exceptions
	ucontext	any	-	-		./ucontext
	dlopen		none	-	-		./dlopen $dir/first.so $dir/second.so
	jit		none	-	-		./jit
	debug-apart	none	90	./debug-apart	./debug-apart 9
	32-bit-bfd	none	-	-		./32-bit-bfd 9
	32-bit-lld	none	-	-		./32-bit-lld 9
	32-bit-static	none	-	-		./32-bit-static 9
	32-bit-plt	none	-	-		./32-bit-plt 7
	rust-bfd	none	100	./rust-bfd	./rust-bfd
	rust-lld	none	100	./rust-lld	./rust-lld
	go		any	-	-		./go
	ls		none	97	/bin/ls		ls -R /usr/include/linux
	sqlite3		none	97	$(library libsqlite3)	sqlite3 -batch -init $progs/query.sql :memory: .quit
	python3		none	97	$(realpath /usr/bin/python3)	/usr/bin/python3 -I -S -c print(sorted(map(int.bit_count,range(99))))
	cc1		none	97	$cc1		$cc1 -quiet -O1 calls.i -o /dev/null
	ruby		any	97	$(library libruby)	ruby --disable-gems $progs/fibers.rb
	END
}

library() {
	ldconfig -p | sed -n "s/.*[[:space:]]$1[-.].* => //p" | head -n 1
}

# alone COMMAND...: run COMMAND with the same environment in the guest and on the host.
alone() {
	env -i PATH=/usr/bin:/bin LC_ALL=C PYTHONHASHSEED=0 GOMAXPROCS=1 GOGC=off "$@"
}

# ---- build -----------------------------------------------------------------------------

build_calls() {
	for compiler in $compilers; do
		for linker in $linkers; do
			# Use DWARF 4, because valgrind 3.19 cannot read clang's DWARF 5 for C++.
			flags="-gdwarf-4 -fno-inline -fno-optimize-sibling-calls -fuse-ld=$linker"
			# shellcheck disable=SC2086 # options
			{
				for level in 0 2 3; do
					$compiler -O$level $flags -o "$compiler-$linker-O$level" "$progs/calls.c"
				done
				$compiler -O2 -static $flags -o "static-$compiler-$linker" "$progs/calls.c"
				$compiler -x c++ -O2 $flags -o "c++-$compiler-$linker" "$progs/names.cc" \
					"$progs/names-more.cc" -lstdc++
			}
		done
	done
}

build_32() {
	gcc -m32 -O1 -g -fno-inline -o 32-bit-bfd "$progs/calls.c"
	gcc -m32 -O1 -g -fno-inline -fuse-ld=lld -o 32-bit-lld "$progs/calls.c"
	gcc -m32 -O1 -g -fno-inline -static -o 32-bit-static "$progs/calls.c"
	gcc -m32 -O1 -fno-builtin -Wl,-z,lazy -o 32-bit-plt "$progs/plt.c"
}

# The program told-NAME prints its own call tree. Prefer Debian's rustc to any other rustc.
build_others() {
	for linker in $linkers; do
		PATH=/usr/bin:$PATH rustc -O -g -C symbol-mangling-version=v0 --crate-name tree \
			-C link-arg=-fuse-ld="$linker" -o "rust-$linker" "$progs/tree.rs"
	done
	PATH=/usr/bin:$PATH rustc -O --cfg told --crate-name tree -o told-rust "$progs/tree.rs"
	export GOCACHE="$dir/go-cache" GO111MODULE=off GOFLAGS=-gcflags=-l
	go build -o go "$progs/tree.go" "$progs/not_told.go"
	go build -tags told -o told-go "$progs/tree.go" "$progs/told.go"
}

build() {
	set -e
	build_calls
	build_32
	build_others
	gcc -E "$progs/calls.c" -o calls.i
	gcc -O2 -g -o signals "$progs/signals.c"
	gcc -O2 -g -o jumps "$progs/tree.c"
	g++ -O2 -g -o exceptions "$progs/tree.cc"
	gcc -O2 -g -o ucontext "$progs/fibers.c"
	gcc -O2 -g -o jit "$progs/jit.c"
	gcc -O2 -g -o dlopen "$progs/reload.c" -ldl
	gcc -O1 -g -shared -fPIC -o first.so "$progs/library.c"
	gcc -O1 -g -shared -fPIC -Dtwice=thrice -o second.so "$progs/library.c"
	gcc -O1 -gdwarf-4 -fno-inline -o debug-apart "$progs/calls.c"
	mkdir -p .debug
	objcopy --only-keep-debug debug-apart .debug/apart.debug
	objcopy --strip-all --add-gnu-debuglink=.debug/apart.debug debug-apart
}

# ---- record ----------------------------------------------------------------------------

record() {
	list | while read -r name _ _ _ command; do
		# shellcheck disable=SC2086 # words
		alone "$bts" record -u -o "$dir/$name.dat" -- $command >"$name.out" </dev/null
		"$bts" archive "$name.dat" >"$name.said" 2>&1
	done
}

# ---- judge -----------------------------------------------------------------------------

# For at least PERCENT % of OBJECT's calls, bts and callgrind must find equal counts (see arcs.py).
same_calls() { # OBJECT PERCENT COMMAND...
	object=$1
	percent=$2
	shift 2
	alone setarch -R valgrind --tool=callgrind --skip-plt=no --compress-strings=no \
		--compress-pos=no --callgrind-out-file=theirs "$@" >/dev/null 2>&1 </dev/null
	"$trace/arcs.py" theirs ours "$object" >arcs || return 1
	sed -n 's/^#/#  /p' arcs
	read -r same all <arcs
	calls="$same of $all"
	[ "$all" -gt 3 ] && [ $((100 * same)) -ge $((percent * all)) ]
}

judge_one() { # NAME GUESSES PERCENT OBJECT COMMAND...
	name=$1
	guesses=$2
	percent=$3
	object=$4
	shift 4
	"$bts" dump -f callgrind -o ours "$name.dat" >bill 2>&1
	bill=$(tail -n 1 bill)
	branches=$(echo "$bill" | sed -n 's/^# \([0-9]*\) branches.*/\1/p')
	gaps=$(echo "$bill" | sed -n 's/.* \([0-9]*\) gaps.*/\1/p')
	guessed=$(echo "$bill" | sed -n 's/.* \([0-9]*\) stacks* guessed.*/\1/p')
	calls=-
	wrong=0
	if [ "$percent" != - ]; then
		same_calls "$object" "$percent" "$@" || wrong=1
	fi
	case $bill in
	*' nothing lost, 0 gaps'*) ;;
	*) wrong=1 ;;
	esac
	[ "$guesses" = any ] || [ -z "$guessed" ] || wrong=1
	result "$wrong" "$(printf '%-16s %9s branches, %s gaps, %3s stacks guessed, calls %s' "$name" \
		"$branches" "$gaps" "${guessed:-0}" "$calls")"
}

# judge_tree NAME TOLD: NAME.dat must contain the call tree that the program TOLD prints.
judge_tree() {
	alone "./$2" >tree.told &&
		"$bts" replay "$1.dat" >tree.replay && "$trace/tree.py" tree.replay tree.told
	result $? "the tree of $1"
}

judge() {
	echo "TAP version 13"
	list >table
	while read -r line; do
		# shellcheck disable=SC2086 # words
		judge_one $line
	done <table
	for linker in $linkers; do
		judge_tree "rust-$linker" told-rust
	done
	judge_tree go told-go
	"$trace/plt.py" "$bts" 32-bit-plt
	result $? "names of PLT stubs in a 32-bit program"
	echo "1..$n"
	exit "$failed"
}

mkdir -p "$dir"
cd "$dir" || exit 1
"$what"
