#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Use clang and llvm-bolt to test the profiles that bts dump writes: profiles.sh make|judge DIR BTS
#
#	make	dump profiles of mix-1.dat, and use them to build mix-sampled and mix-bolted;
#		also build other/mix from mix.c, with other options
#	judge	compare the recordings of these programs with those of mix; print KTAP
#
# shellcheck disable=SC2086 # options

set -u

what=$1
dir=$2
bts=$3
source=$(cd -P -- "$(dirname -- "$0")/progs" && pwd)/mix.c
cd "$dir" || exit 1
# Use LLVM programs that all have the same version.
llvm=$(llvm-config --bindir)

# newest PROGRAM: print the path of PROGRAM or, if it is missing, of the newest PROGRAM-VERSION.
newest() {
	command -v "$1" || find /usr/bin -name "$1-[0-9]*" | sort -V | tail -n 1
}

# Use the same flags as for mix in record.sh, so that only the profile makes a difference.
mix_flags="-O1 -g -gdwarf-4 -fdebug-info-for-profiling -fno-inline -Wl,--build-id
	-mllvm -phi-node-folding-threshold=0 -mllvm -two-entry-phi-node-folding-threshold=0
	-mllvm -speculate-one-expensive-inst=0"

# dumped FORMAT FILE TRACE...: write the profile of mix.c to FILE.
dumped() {
	format=$1
	file=$2
	shift 2
	"$bts" dump -f "$format" --dso mix -o "$file" "$@" >mix.bill
}

make_programs() {
	dumped profgen mix.profgen mix-1.dat && dumped bolt-pa mix.pa mix-1.dat &&
		"$llvm/llvm-profgen" --binary=mix --unsymbolized-profile=mix.profgen \
			--use-offset=0 -o mix.samples &&
		"$llvm/clang" $mix_flags -fprofile-sample-use=mix.samples -o mix-sampled "$source" &&
		"$(newest perf2bolt)" mix -pa -p mix.pa -o mix.fdata >mix.perf2bolt 2>&1 &&
		"$(newest llvm-bolt)" mix -o mix-bolted -data mix.fdata -reorder-blocks=ext-tsp \
			-reorder-functions=hfsort -split-functions >mix.bolt 2>&1 || return
	mkdir -p other && "$llvm/clang" -O2 -Wl,--build-id -o other/mix "$source"
}

# In the combined profile of two traces, each count must be the sum of the two profiles' counts.
adds_up() {
	dumped "$1" mix.first mix-1.dat && dumped "$1" mix.second mix-2.dat &&
		dumped "$1" mix.both mix-1.dat mix-2.dat || return 1
	case $1 in
	profgen | autofdo) separator=: ;;
	*) separator=' ' ;;
	esac
	awk -F "$separator" -v format="$1" '
		NF < 2 { next }
		{
			nr = format == "bolt-pa" && /^B/ ? NF - 1 : NF
			count = $nr
			$nr = ""
		}
		FILENAME != "mix.both" { sum[$0] += count; next }
		{ both[$0] = count; n++ }
		END {
			for (key in sum)
				bad += sum[key] != both[key]
			print "# " format ": " n " sums, " bad + 0 " wrong"
			exit bad || n < 100
		}' mix.first mix.second mix.both
}

all_add_up() {
	adds_up profgen && adds_up autofdo && adds_up bolt-pa && adds_up bolt
}

# refused FORMAT: bts must refuse to combine traces of different builds, although both programs are
# named "mix".
refused() {
	dumped "$1" mix.refused mix-1.dat mix-other.dat 2>mix.said && return 1
	grep -q '^bts: add up: .*/other/mix: several builds of this file' mix.said
}

builds_refused() {
	refused profgen && refused bolt && dumped bolt mix.alone mix-other.dat
}

not_stale() {
	[ "$(grep -c 'function contents: 0 (\|unknown regions: 0 (' mix.perf2bolt)" -eq 2 ] &&
		grep 'have non-empty execution profile' mix.bolt | sed 's/^BOLT-INFO:/#/' &&
		! grep -qi stale mix.bolt
}

# taken PROGRAM TRACE: count the branches. In the dump, only branch lines end with a number.
taken() {
	"$bts" dump -f csv --dso "$1" "$2.dat" 2>/dev/null | grep -c '[0-9]$'
}

# fewer PROGRAM: PROGRAM must print the same output as mix, and take fewer branches.
fewer() {
	before=$(taken mix mix-1)
	after=$(taken "$1" "$1")
	echo "# branches taken: mix $before, $1 $after"
	cmp mix-1.out "$1.out" && [ "$after" -gt 1000 ] && [ "$after" -lt "$before" ]
}

if [ "$what" = make ]; then
	make_programs
	exit
fi
# shellcheck source=tools/tracing/bts/tests/ktap.sh
. "${source%/*}/../../ktap.sh"
echo "TAP version 13"
all_add_up
result $? "the profile of two traces is the sum of their profiles"
builds_refused
result $? "traces of different builds are not combined"
not_stale
result $? "llvm-bolt reports no stale function"
fewer mix-bolted
result $? "mix takes fewer branches after llvm-bolt has optimized mix with the profile"
fewer mix-sampled
result $? "mix takes fewer branches after clang has optimized mix with the profile"
echo "1..$n"
exit $failed
