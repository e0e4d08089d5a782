#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Compare the traces that record.sh recorded with the results of other programs: judge.sh DIR BTS
#
# The variable BTS_JUDGES selects the tests to run. By default, all tests run.
#
# The programs run again on this machine, where valgrind counts the instructions of each function,
# and gcov counts the executions of each line. callgrind_annotate, genhtml and a JSON parser read
# the dumps of bts. Print KTAP.
#
# shellcheck disable=SC2317 # called by judge

set -u

dir=$1
bts=$2
progs=$(cd -P -- "$(dirname -- "$0")/progs" && pwd)
work=$(mktemp -d)
trap 'tui_end; rm -rf "$work"' EXIT
cd "$dir" || exit 1
n=0
failed=0
# shellcheck source=tools/tracing/bts/tests/trace/tui.sh
. "$progs/../tui.sh"
# shellcheck source=tools/tracing/bts/tests/trace/inlined.sh
. "$progs/../inlined.sh"
# shellcheck source=tools/tracing/bts/tests/trace/rows.sh
. "$progs/../rows.sh"
# shellcheck source=tools/tracing/bts/tests/trace/generate.sh
. "$progs/../generate.sh"
# shellcheck source=tools/tracing/bts/tests/lib/lib.sh
. "$progs/../../lib/lib.sh"

has() {
	command -v "$1" >/dev/null
}

# newest PROGRAM: print the path of PROGRAM or, if it is missing, of PROGRAM-N with the highest N.
newest() {
	command -v "$1" || find /usr/bin -name "$1-[0-9]*" | sort -V | tail -n 1
}

# judge NAME NEEDS TITLE COMMAND...: run a test. BTS_JUDGES selects tests by NAME. NEEDS is the name
# of a program that must be installed, or -.
judge() {
	name=$1
	needs=$2
	words=$3
	shift 3
	case " ${BTS_JUDGES:-$name} " in
	*" $name "*) ;;
	*) return ;;
	esac
	n=$((n + 1))
	if [ "$needs" != - ] && ! has "$needs"; then
		echo "ok $n $words # SKIP no $needs"
	elif "$@"; then
		echo "ok $n $words"
	else
		echo "not ok $n $words"
		failed=1
	fi
}

# Print how many instructions valgrind counts in each function, summed over all levels of recursion.
callgrind_counts() {
	valgrind --tool=callgrind --skip-plt=no --compress-strings=no --compress-pos=no \
		--callgrind-out-file="$work/cg" "$@" >/dev/null 2>&1 || return 1
	awk -v prog="$(basename "$1")" '
		/^ob=/ { object = $0; sub(/.*\//, "", object) }
		/^fn=/ { fn = substr($0, 4); sub(/\x27[0-9]+$/, "", fn) }
		/^calls=/ { getline; next }
		/^[0-9]/ && object == prog { count[fn] += $2 }
		END { for (f in count) print f, count[f] }' "$work/cg" | sort
}

bts_counts() {
	"$bts" top --json -n 0 --dso "$2" "$1" | python3 -c '
import json, sys
for line in sys.stdin:
    row = json.loads(line)
    if "function" in row and row["dso"] == sys.argv[1] and row["function"] != "[%s]" % sys.argv[1]:
        print(row["function"].split("(")[0], row["instructions"])' "$2" |
		sort
}

# own_functions PROGRAM: print the functions that the source of PROGRAM defines.
own_functions() {
	nm -C --defined-only "$1" | awk '$2 ~ /[tT]/ { sub(/\(.*/, "", $3); print $3 }' |
		grep -v '^_\|^frame_dummy\|^register_tm\|^deregister_tm' | sort -u
}

# arcs FILE: print how often functions of $work/own call each other. FILE has callgrind's format.
arcs() {
	awk 'function name(s) { sub(/\047[0-9]+$/, "", s); sub(/\(.*/, "", s); return s }
		NR == FNR { own[$1]; next }
		/^fn=/ { fn = name(substr($0, 4)) }
		/^cfn=/ { cfn = name(substr($0, 5)) }
		/^calls=/ && fn in own && cfn in own { count[fn " " cfn] += substr($1, 7) }
		END { for (arc in count) print arc, count[arc] }' "$work/own" "$1" | sort
}

judge_callgrind() {
	prog=$1
	shift
	callgrind_counts "./$prog" "$@" >"$work/theirs"
	bts_counts "$prog.dat" "$prog" >"$work/ours"
	own_functions "$prog" >"$work/own"
	sed 's/(.*) / /' "$work/theirs" | sort | join - "$work/own" >"$work/a"
	join "$work/ours" "$work/own" >"$work/b"
	[ -s "$work/a" ] && diff "$work/a" "$work/b" | sed 's/^/# /' && cmp -s "$work/a" "$work/b" ||
		return 1
	"$bts" dump -f callgrind -o "$work/dump" "$prog.dat" >/dev/null || return 1
	arcs "$work/cg" >"$work/a"
	arcs "$work/dump" >"$work/b"
	[ -s "$work/a" ] && diff "$work/a" "$work/b" | sed 's/^/# /' && cmp -s "$work/a" "$work/b"
}

# Unlike ld, lld does not align segments to pages. The counts must be the same with both linkers.
judge_lld() {
	readelf -lW calls-lld | awk '/LOAD.* R E / && $2 !~ /000$/ { found = 1 } END { exit !found }' ||
		return 1
	own_functions calls >"$work/own"
	for prog in calls calls-lld; do
		bts_counts "$prog.dat" "$prog" | join - "$work/own" >"$work/$prog"
	done
	[ -s "$work/calls" ] && diff "$work/calls" "$work/calls-lld" &&
		"$bts" replay -F main calls-lld.dat >"$work/text" && grep -q ' 0 gaps' "$work/text"
}

# same_names TRACE: in TRACE, whose archive contains a stripped program, bts must find the same
# functions as in calls.dat.
same_names() {
	own_functions calls >"$work/own"
	bts_counts "$1" calls | join - "$work/own" >"$work/ours"
	bts_counts calls.dat calls | join - "$work/own" | cmp -s - "$work/ours"
}

# stripped: copy calls.dat to bare.dat, and put the stripped program into the archive of bare.dat.
stripped() {
	id=$(readelf -n calls | sed -n 's/.*Build ID: //p')
	rest=${id#??}
	byte=${id%"$rest"}
	rm -rf "$work/bare.dat.archive"
	mkdir -p "$work/bare.dat.archive/.build-id/$byte"
	# Newer C libraries call the vDSO when they start, so copy the vDSO, too.
	cp calls.dat.archive/vdso.so "$work/bare.dat.archive/" || return
	bare=$work/bare.dat.archive/.build-id/$byte/$rest
	cp calls.dat "$work/bare.dat"
	strip_with
	! same_names "$work/bare.dat"
}

# bts names the functions of a stripped program by their addresses. The counts and the call tree
# must be the same as for the program with symbols.
judge_nameless() {
	stripped || return 1
	nm calls | sed -n 's/^0*\([0-9a-f]*\) [tT] \(.*\)/[calls+0x\1] \2/p' | sort >"$work/names"
	own_functions calls >"$work/own"
	bts_counts "$work/bare.dat" calls | join "$work/names" - | cut -d' ' -f2- | sort |
		join - "$work/own" >"$work/ours"
	bts_counts calls.dat calls | join - "$work/own" | diff - "$work/ours" && [ -s "$work/ours" ] ||
		return 1
	"$bts" replay -F main calls.dat | sed -n 's/.\{49\}//p' >"$work/a"
	main=$(sed -n 's/ main$//p' "$work/names")
	"$bts" replay -F "$main" "$work/bare.dat" | sed -n 's/.\{49\}//p' |
		awk 'NR == FNR { names[$1] = $2; next }
			match($0, /\[calls[^]]*]/) {
				name = substr($0, RSTART, RLENGTH)
				$0 = substr($0, 1, RSTART - 1) names[name] substr($0, RSTART + RLENGTH)
			} { print }' "$work/names" - | diff "$work/a" -
}

# strip_with OPTION...: strip the program, and store the result in the archive twice, under its
# build ID and under its path.
strip_with() {
	objcopy --strip-all "$@" calls "$bare" && mkdir -p "$work/bare.dat.archive/root$dir" &&
		cp "$bare" "$work/bare.dat.archive/root$dir/calls"
}

judge_debug_id() {
	stripped && objcopy --only-keep-debug calls "$bare.debug" && same_names "$work/bare.dat" &&
		"$bts" top -n 0 -b line "$work/bare.dat" >"$work/text" &&
		grep -q '/calls.c:[1-9]' "$work/text"
}

# Strip the program, and put its symbols, but no debug information, into .gnu_debugdata.
judge_debugdata() {
	stripped && objcopy --strip-debug calls "$work/mini" && xz -kf "$work/mini" &&
		strip_with --add-section .gnu_debugdata="$work/mini.xz" &&
		same_names "$work/bare.dat"
}

judge_debuginfod() {
	stripped && mkdir -p "$work/server/buildid/$id" &&
		objcopy --only-keep-debug calls "$work/server/buildid/$id/debuginfo" || return 1
	export DEBUGINFOD_URLS="file://$work/server" DEBUGINFOD_CACHE_PATH="$work/cache"
	same_names "$work/bare.dat"
	same=$?
	unset DEBUGINFOD_URLS DEBUGINFOD_CACHE_PATH
	return "$same"
}

judge_debuglink() {
	"$bts" top -n 0 linked.dat | grep -q ' fib  (linked)' || return 1
	cp .debug/linked.debug "$work/kept"
	echo >>.debug/linked.debug
	! "$bts" top -n 0 linked.dat | grep -q ' fib'
	refused=$?
	# If a debug file is a FIFO, bts must not wait for a writer.
	rm .debug/linked.debug && mkfifo .debug/linked.debug
	timeout 60 "$bts" top -n 0 linked.dat >"$work/text"
	waited=$?
	rm .debug/linked.debug
	cp "$work/kept" .debug/linked.debug
	[ "$refused$waited" = 00 ]
}

# The program "linked" has no build ID, and the trace alone.dat has no stored copy of the program.
# touch(1) gives the program a ctime after the recording, so bts must mark function names with "?".
judge_proof() {
	cp linked.dat "$work/alone.dat" && touch linked &&
		"$bts" top -n 0 "$work/alone.dat" >"$work/text" && grep -q ' fib?  (linked)' "$work/text" &&
		grep -q "^# $dir/linked: may have changed" "$work/text" &&
		"$bts" top -n 0 linked.dat >"$work/text" && grep -q ' fib  (linked)' "$work/text" &&
		! grep -q '^# .*: may have changed' "$work/text"
}

judge_plt() {
	for prog in plt-lazy plt-ibt plt-lld; do
		"$progs/../plt.py" "$bts" "$prog" || return 1
	done
}

# gcov_counts FILE ARGUMENT...: run calls.c with each ARGUMENT, and write gcov's counts to FILE.
gcov_counts() {
	list=$1
	shift
	rm -f "$work"/instrumented*
	(cd "$work" && gcc -O0 -g --coverage -o instrumented "$progs/calls.c" || exit
	 for argument; do
		# shellcheck disable=SC2086 # an optional argument
		./instrumented $argument >/dev/null || exit
	 done
	 gcov -t instrumented-calls.gcda 2>/dev/null) |
		awk -F: '{ gsub(/[ *]/, "", $1); gsub(/ /, "", $2)
			   if ($1 == "#####") $1 = 0
			   if ($1 ~ /^[0-9]+$/) print $2, $1 }' | sort >"$list"
}

# same_lines INFO [LIST]: the counts of the lines in INFO must equal the counts of gcov.
same_lines() {
	list=${2:-$work/gcov}
	[ -s "$list" ] || gcov_counts "$list" 8
	sed -n 's/^DA:\([0-9]*\),/\1 /p' "$1" | sort >"$work/ours"
	# join(1) drops lines that have a count in only one file. For example, gcov counts a
	# function's entry at the line of its name, but bts at the line of its opening brace.
	join "$list" "$work/ours" | awk '
		$2 != $3 { print "# line " $1 ": gcov " $2 ", bts " $3; bad = 1 }
		END { exit bad || NR < 30 }'
}

judge_gcov() {
	"$bts" cover -f lcov --dso calls-O0 -o "$work/info" calls-O0.dat >/dev/null &&
		same_lines "$work/info"
}

five='calls-O0.dat calls-O0-.dat calls-O0-1.dat calls-O0-2.dat calls-O0-3.dat'

# If bts cover reads five traces, the counts must equal both gcov's counts for the five runs and
# the sums of the counts for the individual traces. If a line was never executed, all jumps of the
# line must have the count "-". In any other line, at least one count must be a number.
judge_five() {
	gcov_counts "$work/gcov5" 8 '' 1 2 3
	# shellcheck disable=SC2086 # a list
	"$bts" cover -f lcov --dso calls-O0 -o "$work/info5" $five >/dev/null 2>&1 &&
		same_lines "$work/info5" "$work/gcov5" &&
		"$bts" cover -f pcs --dso calls-O0 $five 2>/dev/null >"$work/pcs5" || return 1
	sed -n 's/^BRDA:\([0-9]*\),0,[0-9]*,/\1 /p' "$work/info5" | sort >"$work/branches"
	join "$work/gcov5" "$work/branches" | awk '
		{ seen[$1] = $2; jumps[$1]++; dashes[$1] += $3 == "-" }
		END { for (line in seen) {
			if ((seen[line] == 0) != (dashes[line] == jumps[line])) {
				print "# line " line ": " seen[line] " times, BRDA " dashes[line]; bad = 1
			}
			never += seen[line] == 0
		      }
		      exit bad || !never }' || return 1
	for trace in $five; do
		"$bts" cover -f pcs --dso calls-O0 "$trace" 2>/dev/null
	done | awk '{ sum[$1] += $2 } END { for (pc in sum) print pc, sum[pc] }' | sort >"$work/pcs"
	[ -s "$work/pcs" ] && sort "$work/pcs5" | cmp - "$work/pcs"
}

# The output of genhtml must contain the counts of the tracefile, and the names of the tests.
judge_tests() {
	# shellcheck disable=SC2086 # a list
	"$bts" cover -f lcov --tests --dso calls-O0 -o "$work/info.tests" $five >/dev/null 2>&1 &&
		genhtml --branch-coverage --show-details -o "$work/html5" "$work/info.tests" \
			>"$work/log" 2>&1 || return 1
	awk -F '[:,]' '
		FNR == 1 { file++ }
		/^TN:/ && file == 2 { tests++ }
		/^DA:/ { sum[file, $2] += $3; lines[$2] }
		/^LH:/ && file == 1 { lh = $2 } /^LF:/ && file == 1 { lf = $2 }
		/^BRH:/ && file == 1 { brh = $2 } /^BRF:/ && file == 1 { brf = $2 }
		END {
			for (line in lines)
				bad += sum[1, line] != sum[2, line]
			print lh, lf, brh, brf
			exit bad || tests != 5
		}' "$work/info5" "$work/info.tests" >"$work/totals" || return 1
	read -r lh lf brh brf <"$work/totals"
	echo "# $lh of $lf lines, $brh of $brf branches"
	grep -q "lines.*: .*($lh of $lf lines)" "$work/log" &&
		grep -q "branches.*: .*($brh of $brf branches)" "$work/log" &&
		grep -rq 'calls_O0_3' "$work/html5"
}

# Treat a program as the kernel. Add SHIFT to the addresses in its trace, and archive its code as a
# kcore at the shifted addresses. The program is also used as vmlinux, with unchanged addresses.
judge_vmlinux() {
	shift=ffffffff80000000
	build_generate || return 1
	nm calls-static | awk -v shift=ffffffff8 '
		$2 ~ /[tT]/ && length($1) == 16 { print shift substr($1, 10), $2, $3 }' |
		sort >"$work/kallsyms"
	BTS_SHIFT=$shift BTS_KALLSYMS=$work/kallsyms "$work/generate" calls-static.dat \
		"$work/lifted.dat" 1 packs none || return 1
	mkdir "$work/lifted.dat.archive"
	python3 - calls-static "$work/lifted.dat.archive/kcore" "0x$shift" <<-'PYTHON' || return 1
	import struct, sys

	elf = bytearray(open(sys.argv[1], "rb").read())
	at, = struct.unpack_from("<Q", elf, 32)
	for i in range(struct.unpack_from("<H", elf, 56)[0]):
	    vaddr, = struct.unpack_from("<Q", elf, at + 56 * i + 16)
	    struct.pack_into("<Q", elf, at + 56 * i + 16, vaddr + int(sys.argv[3], 16))
	open(sys.argv[2], "wb").write(elf)
	PYTHON
	"$bts" cover -f lcov -k --vmlinux calls-static -o "$work/info.k" "$work/lifted.dat" \
		>"$work/bill" && grep -q ' 0 gaps' "$work/bill" && same_lines "$work/info.k" &&
		! "$bts" cover -f lcov -k --vmlinux "$bts" "$work/lifted.dat" 2>"$work/said" &&
		grep -q '^bts: read lines: ' "$work/said" || return 1
	# If the archive contains the kernel's build ID, bts must accept only a vmlinux with this
	# ID.
	objcopy -O binary --only-section=.note.gnu.build-id calls-static \
		"$work/lifted.dat.archive/notes" &&
		"$bts" cover -f lcov -k --vmlinux calls-static -o "$work/info.k" \
			"$work/lifted.dat" >"$work/bill" && same_lines "$work/info.k" || return 1
	printf '\4\0\0\0\4\0\0\0\3\0\0\0GNU\0abcd' >"$work/lifted.dat.archive/notes"
	! "$bts" cover -f lcov -k --vmlinux calls-static "$work/lifted.dat" 2>"$work/said" &&
		grep -q 'not the kernel that was recorded' "$work/said"
}

# drcov NAME OPTION... TRACE: print the base of the file NAME, and the addresses of its first and
# its last block.
drcov() {
	name=$1
	shift
	"$bts" cover -f drcov -o "$work/drcov" "$@" >/dev/null 2>&1 &&
		python3 - "$work/drcov" "$name" <<-'PYTHON'
		import re, struct, sys

		data = open(sys.argv[1], "rb").read()
		head, _, rest = data.partition(b"BB Table: ")
		count, _, blocks = rest.partition(b" bbs\n")
		[(module, base)] = re.findall(r"^ *(\d+), 0x([0-9a-f]+), .*%s$" % re.escape(sys.argv[2]),
		                              head.decode(), re.M)
		list = [(start, size) for start, size, m in struct.iter_unpack("<IHH", blocks)
		        if m == int(module)]
		assert len(blocks) == 8 * int(count)
		print(base.lstrip("0") or "0", *("%x" % (int(base, 16) + at) for at in
		      (min(list)[0], max(list)[0])))
		PYTHON
}

# With -f drcov, bts prints base addresses, and the offset of each block from its base. A program's
# base must be the program's first address. The kernel's base must be the same in all traces.
judge_drcov() {
	first=$(readelf -lW calls-static | awk '$1 == "LOAD" { print substr($3, 3); exit }' | sed 's/^0*//')
	main=$(nm calls-static | sed -n 's/^0*\([0-9a-f]*\) T main$/\1/p')
	[ "$first" ] && drcov calls-static calls-static.dat >"$work/text" || return 1
	read -r base low high <"$work/text"
	echo "# calls-static: base $base, blocks $low to $high, main $main"
	[ "$base" = "$first" ] && "$bts" cover -f pcs --dso calls-static calls-static.dat 2>/dev/null |
		sed -n 's/.*+0x\([0-9a-f]*\) .*/\1/p' | sort >"$work/pcs" &&
		grep -qx "$main" "$work/pcs" && [ "$(head -n 1 "$work/pcs")" = "$low" ] || return 1
	for trace in kernel kernel-tree; do
		drcov '[kernel]' -k "$trace.dat" | cut -d' ' -f1 >>"$work/bases" || return 1
	done
	[ "$(wc -l <"$work/bases")" -eq 2 ] && [ "$(uniq "$work/bases" | wc -l)" -eq 1 ]
}

# genhtml cuts names at commas. So bts must write mangled names, which contain no commas.
judge_overloads() {
	"$bts" cover -f lcov --dso names -o "$work/info.names" names.dat >/dev/null 2>&1 &&
		genhtml -o "$work/html.names" "$work/info.names" >"$work/log" 2>&1 || return 1
	awk -F: '/^FNF:/ { found += $2 } /^FNH:/ { hit += $2 } END { print hit, found }' \
		"$work/info.names" >"$work/totals"
	read -r hit found <"$work/totals"
	echo "# $hit of $found functions"
	grep -q ',_Z4picki$' "$work/info.names" &&
		grep -q "functions.*: .*($hit of $found functions)" "$work/log"
}

judge_genhtml() {
	[ -s "$work/info" ] ||
		"$bts" cover -f lcov --dso calls-O0 -o "$work/info" calls-O0.dat >/dev/null
	genhtml -q --branch-coverage -o "$work/html" "$work/info" >"$work/log" 2>&1 &&
		[ -s "$work/html/index.html" ]
}

# total TRACE [OPTION...]: print the sum of the instruction counts that bts top prints.
total() {
	"$bts" top -n 0 --json "$@" | sed -n 's/.*"instructions":\([0-9]*\).*/\1/p' |
		awk '{ n += $1 } END { print n }'
}

judge_annotate() {
	"$bts" dump -f callgrind -o "$work/out" calls.dat >/dev/null &&
		callgrind_annotate "$work/out" >"$work/text" 2>"$work/log" || return 1
	[ -s "$work/log" ] && return 1
	[ "$(awk '/PROGRAM TOTALS/ { gsub(",", "", $1); print $1 }' "$work/text")" = \
	  "$(total calls.dat)" ] &&
		[ "$(awk '/:fib / { gsub(",", "", $1); print $1; exit }' "$work/text")" = \
		  "$("$bts" top -n 0 calls.dat | awk '$6 == "fib" { print $1 }')" ]
}

# If a source line makes a call, the dump must also contain the cost of the line itself.
judge_call_lines() {
	for trace in throws inlines; do
		"$bts" dump -f callgrind "$trace.dat" 2>/dev/null | awk -F= '
			/^(fl|fi)=/ { file = $2 }
			/^fn=/ { function_ = $2 }
			/^calls=/ { getline; split($0, at, " "); calls[function_, file, at[1]]; next }
			/^[0-9]/ { split($0, at, " "); lines[function_, file, at[1]] }
			END {
				for (call in calls) {
					n++
					bad += !(call in lines)
				}
				print "# " n " lines with calls, " bad + 0 " wrong"
				exit bad || n < 10
			}' || return 1
	done
}

# The order of functions, lines and calls must not depend on where the tool allocates memory.
judge_order() {
	for trace in throws loads; do
		"$bts" dump -f callgrind -o "$work/out" "$trace.dat" >/dev/null &&
			MALLOC_MMAP_THRESHOLD_=1000 MALLOC_TOP_PAD_=0 \
				"$bts" dump -f callgrind -o "$work/other" "$trace.dat" >/dev/null &&
			cmp "$work/out" "$work/other" || return 1
	done
}

judge_folded() {
	"$bts" dump -f folded calls.dat 2>/dev/null >"$work/folded" &&
		[ "$(awk '{ n += $NF } END { print n }' "$work/folded")" = "$(total calls.dat)" ] &&
		grep -q ';main;choose;apply;mul ' "$work/folded" &&
		# The recursion from fib(12) to fib(1) has 12 levels.
		[ "$(awk '{ n = gsub(/;fib/, ""); if (n > most) most = n } END { print most }' \
			"$work/folded")" -eq 12 ]
}

# The widest box of the flame graph must show the sum of all instructions. Each box must have a
# title. The picture must be valid XML. pictures.sh tests the script in the picture.
judge_flame() {
	"$bts" dump -f flame -o "$work/flame.svg" calls.dat >/dev/null &&
		python3 - "$work/flame.svg" "$(total calls.dat)" <<-'PYTHON'
		import re, sys
		import xml.etree.ElementTree as tree

		svg = "{http://www.w3.org/2000/svg}"
		boxes = {}
		for g in tree.parse(sys.argv[1]).iter(svg + "g"):
		    title, rect = g.find(svg + "title").text, g.find(svg + "rect")
		    name = title.split("  (")[0].split(":")[0]
		    count = int(re.search(r": (\d+) instructions?,", title)[1])
		    box = [float(rect.get(key)) for key in ("x", "y", "width")]
		    boxes.setdefault(name, []).append((box, count))
		total = int(sys.argv[2])
		[(whole, count)] = boxes["all"]
		(main, main_count), = boxes["main"]
		fibs = boxes["fib"]
		sys.exit(not (count == total and whole[2] > 979 and main[1] < whole[1] and
		              abs(main_count / total - main[2] / 980) < .002 and
		              len(fibs) > 10 and all(box[1] < main[1] for box, _ in fibs)))
		PYTHON
}

# Even if a trace lacks the branches back to user space, no kernel frame may stay on the stack.
judge_filtered() {
	for trace in calls-O0 filtered; do
		"$bts" dump -f folded "$trace.dat" 2>"$work/said" |
			sed -n 's/.*;main;\(choose\|fib\|odd\)/main;\1/p' | sort >"$work/$trace"
	done
	[ "$(wc -l <"$work/calls-O0")" -gt 10 ] && diff "$work/calls-O0" "$work/filtered" &&
		grep -q 'DS buffer wrapped' "$work/said"
}

# With --head N, exactly N lines must be printed. In this test, line N is "name() {", and line N + 1
# is "// ...". bts knows line N + 1 before it prints line N, but must not print line N + 1.
judge_head() {
	"$bts" replay throws.dat | sed 1d >"$work/replay"
	rows=$(awk 'substr($0, 50) ~ /^ *\/\/ / && before { print NR - 1; exit }
		{ before = /\(\) \{/ }' "$work/replay")
	[ "$rows" ] && "$bts" replay --head "$rows" throws.dat | sed 1d | grep -v '^#' >"$work/head" &&
		head -n "$rows" "$work/replay" | diff - "$work/head"
}

judge_chrome() {
	for trace in calls throws loads fibers; do
		"$bts" dump -f chrome -o "$work/json" "$trace.dat" >/dev/null &&
			python3 - "$work/json" <<-'PYTHON' || return 1
			import collections, json, sys

			last = collections.defaultdict(list)
			for e in json.load(open(sys.argv[1]))["traceEvents"]:
			    # Perfetto accepts only thread IDs of up to 32 bits.
			    if e["tid"] >= 1 << 32:
			        sys.exit(1)
			    if e["ph"] == "X":
			        ns = [round(1000 * e[key]) for key in ("ts", "dur")]
			        last[e["tid"]].append((ns[0], -ns[1]))
			# Calls of a task must be nested, or follow each other. Two calls must not
			# begin or end at the same time, because speedscope would draw one call on
			# top of the other call.
			for events in last.values():
			    times = [time for ts, dur in events for time in (ts, ts - dur)]
			    if len(times) != len(set(times)):
			        sys.exit(1)
			    stack = []
			    for ts, dur in sorted(events):
			        while stack and stack[-1] <= ts:
			            stack.pop()
			        if stack and ts - dur > stack[-1]:
			            sys.exit(1)
			        stack.append(ts - dur)
			PYTHON
	done
}

# The dump for Perfetto, decoded by protoc, must have the same calls as the dump for Chrome.
judge_perfetto() {
	for trace in calls throws fibers; do
		"$bts" dump -f perfetto -o "$work/pftrace" "$trace.dat" >/dev/null &&
			"$bts" dump -f chrome -o "$work/json" "$trace.dat" >/dev/null &&
			protoc --proto_path="$progs/.." --decode=Trace perfetto.proto \
				<"$work/pftrace" >"$work/text" &&
			python3 "$progs/../perfetto.py" "$work/text" "$work/json" || return 1
	done
}

judge_json() {
	"$bts" report --json calls.dat | python3 -c '
import json, sys
rows = [json.loads(line) for line in sys.stdin]
branches = [r for r in rows if "from" in r]
bill = rows[-1]["bill"]
sys.exit(len(branches) != bill["branches"] or bill["gaps"])'
}

# Call stacks must stay correct across exceptions, signal handlers and jumps between functions.
judge_stacks() {
	"$bts" dump -f folded throws.dat 2>/dev/null >"$work/folded"
	grep -q ';main;attempt;deep;deep;deep;deep;__cxa_throw' "$work/folded" || return 1
	# The exception ends the calls of deep(), and is caught by attempt().
	grep -q ';main;attempt;__cxa_begin_catch' "$work/folded" || return 1
	grep -q ';main;.*;main;' "$work/folded" && return 1
	"$bts" dump -f folded signals.dat 2>/dev/null >"$work/folded"
	grep -q ';main;kill;on_usr1' "$work/folded" || return 1
	grep -q '@plt;[^_]' "$work/folded" && return 1
	grep -q ';main;.*;main;' "$work/folded" && return 1
	"$bts" dump -f folded loads.dat 2>/dev/null | grep -q 'main;twice '
}

# The program told-PROGRAM, which is built with -finstrument-functions, must print the same calls as
# bts replay. The outermost calls must contain all instructions. In fibers.dat, several fibers stop
# at the same code address, so bts must guess which fiber continues. Other traces need no guess.
judge_tree() { # TRACE PROGRAM
	"./told-$2" >"$work/told" && "$bts" replay "$1.dat" >"$work/replay" &&
		"$progs/../tree.py" "$work/replay" "$work/told" "told-$2" || return 1
	[ "$(awk 'substr($0, 50) ~ /^[^ ]/ && $1 ~ /^[0-9]+$/ { n += $1 } END { print n }' \
		"$work/replay")" = "$(total "$1.dat")" ] || return 1
	# The code of f.cold belongs to the function f, so the tree must not show a call of f.cold.
	! grep -q '\.cold' "$work/replay" || return 1
	case $1 in
	fibers) tail -n 1 "$work/replay" | grep -q ' 0 gaps, [1-9][0-9]* stacks guessed' ;;
	*) tail -n 1 "$work/replay" | grep -v guessed | grep -q ' 0 gaps' ;;
	esac
}

# places TRACE OPTIONS ARGS PLACE...: at each PLACE, the call tree must show the same stack as gdb's
# backtrace.
places() {
	trace=$1
	arguments=$3
	# shellcheck disable=SC2086 # options
	"$bts" replay $2 "$trace.dat" >"$work/replay" || return 1
	shift 3
	# shellcheck disable=SC2086 # arguments
	"$progs/../places.py" "$work/replay" "$@" -- "./$trace" $arguments
}

# bts and gdb must show the same stacks. The programs contain recursion, C++ code, inlined
# functions, functions with cold parts, callbacks of the C library, signal handlers, several stacks,
# longjmp(), and exceptions.
judge_gdb() {
	places calls '' 12 mul:4 fib:600 && places calls-lld '' 12 fib:30 &&
		places tree-c '' '' leaf:15 leaf:60 leaf:110 leaf:114 leaf:117 &&
		places tree-cc '' '' thrower:6 leaf:25 && places inlines --inline '' told:2 told:15 &&
		places fibers '' '' leaf:60
}

# csv FILTER...: print the selected branches.
csv() {
	"$bts" dump -f csv "$@" 2>/dev/null | cut -d, -f1-9 | grep -v ',row$'
}

# filter TRACE CONDITION FILTER...: FILTER must select the branches that match CONDITION.
filter() {
	trace=$1
	condition=$2
	shift 2
	csv "$trace" >"$work/all"
	awk -F, "NR == 1 || ($condition)" "$work/all" >"$work/theirs"
	csv "$@" "$trace" >"$work/ours"
	[ "$(wc -l <"$work/ours")" -gt 3 ] && ! cmp -s "$work/all" "$work/ours" &&
		cmp "$work/theirs" "$work/ours" && return
	echo "# $trace $*: selects other branches than $condition"
	return 1
}

# shellcheck disable=SC2016 # awk'"'"'s fields
judge_filters() {
	csv throws.dat >"$work/all"
	# Select the thread and the CPU of the last branch, and a time in the middle of the trace.
	pid=$(tail -n 1 "$work/all" | cut -d, -f3)
	cpu=$(tail -n 1 "$work/all" | cut -d, -f4)
	time=$(awk -F, '{ ts[NR] = $1 } END { print ts[int(NR / 2)] }' "$work/all")
	seconds=$(echo "$time" | sed 's/.\{9\}$/.&/')
	filter throws.dat "\$3 == $pid" --pid "$pid" &&
		filter throws.dat "\$4 == $cpu" --cpu "$cpu" &&
		filter throws.dat "\$1 >= $time" --time "$seconds," &&
		filter throws.dat "\$1 <= $time" --time ",$seconds" &&
		[ "$("$bts" dump -f csv --head 7 throws.dat 2>/dev/null | wc -l)" -eq 8 ] &&
		filter throws.dat '$6 ~ /^deep[+]/' --from deep &&
		filter throws.dat '$8 ~ /^deep[+]/' --to deep &&
		filter sort.dat '$2 == "sort"' --task sort &&
		filter kernel-tree.dat '$5 ~ /^0xffff/ || $7 ~ /^0xffff/' -k &&
		filter kernel-tree.dat '$5 !~ /^0xffff/ || $7 !~ /^0xffff/' -u &&
		filter kernel-tree.dat '$5 ~ /^0xffff/ || $7 ~ /^0xffff/' --dso '[kernel]'
}

# jumps TRACE...: print the functions that, according to the call tree, are entered by a jump.
jumps() {
	"$bts" replay --json "$@" | sed -n 's/.*"call":"\([^"]*\)".*"jump"}$/\1/p' | sort -u
}

# The task moves between two CPUs. If bts shows only one CPU, branches on the other CPU are hidden.
# After hidden branches, the call tree must show a gap, and must not show a jump to a function.
judge_moves() {
	build_generate || return 1
	ln -sf "$dir/calls-O0.dat.archive" "$work/moves.dat.archive"
	"$bts" replay calls-O0.dat | grep -v "^#" | cut -c 50- >"$work/a"
	jumps calls-O0.dat >"$work/all"
	for nth in 101 1000; do
		BTS_MOVES=$nth "$work/generate" calls-O0.dat "$work/moves.dat" 1 entries none &&
			"$bts" replay "$work/moves.dat" | grep -v "^#" | cut -c 50- >"$work/b" &&
			diff "$work/a" "$work/b" | sed 's/^/# /' && cmp -s "$work/a" "$work/b" ||
			return 1
		jumps --cpu 1000 "$work/moves.dat" | comm -13 "$work/all" - >"$work/more"
		[ ! -s "$work/more" ] || return 1
		jumps --cpu 0-999 "$work/moves.dat" | comm -13 "$work/all" - >"$work/more"
		[ ! -s "$work/more" ] || return 1
		"$bts" replay --cpu 1000 "$work/moves.dat" | grep -q 'after a gap' || return 1
	done
}

# Each callee in the dump must also have an entry there, even if all its calls are inlined. A kernel
# function need not have an entry, because the traces show only user space.
judge_inline_callees() {
	for trace in inlines throws; do
		"$bts" dump -f callgrind --inline -o "$work/dump" "$trace.dat" >/dev/null &&
			python3 - "$work/dump" <<-'PYTHON' || return 1
			import sys

			names = {"fn": set(), "cfn": set()}
			file = {}
			for line in open(sys.argv[1]):
			    key, _, value = line.rstrip().partition("=")
			    file[key] = value
			    if key in names:
			        names[key].add((file["c" * (key == "cfn") + "ob"], value))
			missing = {name for name in names["cfn"] - names["fn"] if name[0] != "[kernel]"}
			print("#", *missing)
			sys.exit(bool(missing) or len(names["cfn"]) < 100)
			PYTHON
	done
}

# In the made-up trace, the idle tasks of two CPUs have the same PID, and take the same branches.
judge_idle() {
	build_generate || return 1
	ln -sf "$dir/kernel-tree.dat.archive" "$work/idle.dat.archive"
	BTS_IDLE=1 "$work/generate" kernel-tree.dat "$work/idle.dat" 1 packs none || return 1
	for cpu in 0-999 1000; do
		"$bts" replay --json --cpu "$cpu" "$work/idle.dat" | grep '"level"' >"$work/cpu$cpu"
	done
	"$bts" replay --json kernel-tree.dat | grep '"level"' |
		grep -o '"level".*' >"$work/a"
	grep -o '"level".*' "$work/cpu1000" | cmp - "$work/a" &&
		cmp "$work/cpu0-999" "$work/cpu1000" || return 1
	# Without --cpu, the output must contain the rows of both idle tasks.
	sort "$work/cpu1000" "$work/cpu1000" >"$work/a"
	"$bts" replay --json "$work/idle.dat" >"$work/text"
	grep '"level"' "$work/text" | sort | cmp - "$work/a" &&
		tail -n 1 "$work/text" | grep -q '"tasks":1,.*"gaps":0,.*"stacks_guessed":0' || return 1
	"$bts" dump -f chrome -o "$work/json" "$work/idle.dat" >"$work/said" &&
		python3 -c '
import json, sys
tracks = {e["tid"] for e in json.load(open(sys.argv[1]))["traceEvents"] if e["ph"] == "X"}
sys.exit(len(tracks) != 2)' "$work/json"
}

# bts must not name a kernel function after a symbol that marks the start or end of a section.
judge_bounds() {
	"$bts" top -k -n 0 kernel.dat >"$work/text"
	! grep -E ' (__(sched|lock|irqentry|entry)_text_(start|end)|_stext) ' "$work/text" &&
		grep -q ' swapgs_restore_regs_and_return_to_usermode ' "$work/text"
}

# The return from a page fault or an interrupt is not a call of the interrupted function. Leave out
# functions into which other functions jump, because the call tree counts these jumps as calls.
judge_calls() {
	for trace in calls signals; do
		"$bts" dump -f callgrind "$trace.dat" 2>/dev/null | awk '
			/^cfn=/ { function_ = substr($0, 5) }
			/^calls=/ { split($0, calls, "[= ]"); n[function_] += calls[2] }
			END { for (f in n) print f " " n[f] }' | sort >"$work/tree"
		"$bts" top -n 0 --json "$trace.dat" | sed -n \
			's/^{"function":"\(.*\)","dso":.*"calls":\([1-9][0-9]*\)}$/\1 \2/p' |
			awk '{ calls = $NF; sub(" [^ ]*$", ""); n[$0] += calls }
				END { for (f in n) print f " " n[f] }' | sort >"$work/top"
		diff "$work/tree" "$work/top" | grep '^[<>]' |
			grep -v -e ' _start ' -e ' memcpy ' -e ' __memcpy_' && return 1
		grep -q '^printf 1$' "$work/top" || return 1
	done
	"$bts" cover -f lcov --dso signals -o "$work/info" signals.dat >/dev/null 2>&1 &&
		grep -qx 'FNDA:5,on_usr1' "$work/info" && grep -qx 'FNDA:1,on_segv' "$work/info" &&
		grep -qx "DA:$(grep -n 'handled++' "$progs/signals.c" | cut -d: -f1),5" "$work/info"
}

# With -u or -k, all commands must count the same number of branches.
judge_sides() {
	for side in -u -k; do
		top=$("$bts" top --json -n 0 "$side" kernel.dat |
			sed -n 's/.*"branches":\([0-9]*\),"calls".*/\1/p' | awk '{ n += $1 } END { print n }')
		[ "$("$bts" dump -f callgrind "$side" kernel.dat 2>/dev/null |
			awk '/^summary:/ { print $3 }')" = "$top" ] &&
			[ "$("$bts" dump -f folded -b "$side" kernel.dat 2>/dev/null |
				awk '{ n += $NF } END { print n }')" = "$top" ] || return 1
	done
}

judge_graph() {
	"$bts" graph fib calls.dat >"$work/text"
	own=$("$bts" top -n 0 calls.dat | awk '$6 == "fib" { print $1 }')
	# To compute fib(12), the program calls fib() 465 times. Then the
	# program computes fib(5) ten times, with 15 calls each. The function fib() calls only
	# itself, and its outermost call includes the instructions of inner calls.
	awk -v own="$own" '
		$4 == "main" { main = $1 }
		$4 == "fib" && !all && $2 { inner = 1 }
		/^function/ { getline; all = $1; sum = $2 }
		END { exit !(main == 1 && all == 465 + 150 && sum == own && !inner) }' \
		"$work/text" && ! "$bts" graph no_such calls.dat >"$work/text" 2>"$work/said" &&
		grep -q '^bts: graph: no_such: no such function' "$work/said"
}

# called WHERE: print "FUNCTION CALLS" for each function that bts graph WHERE finds.
called() {
	"$bts" graph --json "$1" names.dat | python3 -c '
import json, sys
for row in map(json.loads, sys.stdin):
    if "function" in row:
        print("%s: %d" % (row["function"], row["calls"]))' | sort
}

# leads WHERE N: exactly N calls must lead to WHERE.
leads() {
	[ "$(csv --to "$1" names.dat | grep -c '+0x0,call')" -eq "$2" ]
}

# Find a function by its demangled name, its mangled name, its alias, or its name without .isra.0.
judge_demangled() {
	called 'rust::*' >"$work/a" && diff - "$work/a" <<-'EOF' || return 1
	rust::add: 3
	rust::cmp::max::<i32>: 3
	rust::old::h05af221e174051e9: 3
	rust::old::h9fc8b3d1e2a47c60: 1
	EOF
	leads rust::add 3 && leads _RNvCs1234_4rust3add 3 && leads rust::old 4 &&
		leads _ZN4rust3old17h9fc8b3d1e2a47c60E 1 && [ "$(called 'twice*')" = 'twice<int>: 1' ] &&
		[ "$(called second_name)" = 'first_name: 1' ] && leads 'second*' 1 &&
		[ "$(called copied)" = 'copied.constprop.0: 2' ] && leads copied 2 &&
		[ "$(called space::copied)" = 'space::copied.isra.0: 1' ] || return 1
	# The recording ended when one of the rust::* functions was called.
	"$bts" dump -f csv flight.dat 2>/dev/null | grep ',rust::' >"$work/rows"
	[ "$(wc -l <"$work/rows")" -ge 1 ] && ! grep -v 'rust::add+0x0' "$work/rows"
}

# Distinguish two static functions with the same name, and two overloads.
judge_names() {
	called init >"$work/a" && diff - "$work/a" <<-'EOF' || return 1
	init(int) [names-more.cc]: 3
	init(int) [names.cc]: 2
	EOF
	called 'pic?' >"$work/a" && diff - "$work/a" <<-'EOF' || return 1
	pick(double): 1
	pick(int): 4
	EOF
	"$bts" top -n 0 names.dat >"$work/text" && grep -q ' init(int) \[names.cc]  (names)' "$work/text" &&
		[ "$(called 'pick(int)')" = 'pick(int): 4' ] && [ "$(called _Z4pickd)" = 'pick(double): 1' ] &&
		leads pick 5 && leads 'pick*' 5 && leads _Z4picki 4 && leads 'init(int) [names.cc]' 2 || return 1
	"$bts" replay -F 'pi*k' -N _Z4picki names.dat >"$work/text" &&
		grep -q 'pick(double)' "$work/text" && ! grep -q 'pick(int)' "$work/text"
}

# bts top must print the name of JIT-compiled code, even if the code itself was not saved.
judge_jit() {
	"$bts" top --json -n 0 jit.dat |
		grep -q '"function":"made_up",.*"branches":55,"calls":10' || return 1
	# The dump for llvm-bolt must contain only functions whose code is in a file.
	"$bts" dump -f bolt jit.dat >"$work/fdata" 2>/dev/null && grep -q ' main ' "$work/fdata" &&
		! grep -q made_up "$work/fdata"
}

# Decode JIT-compiled code. The loop in this code runs 2 * (1 + ... + 10) times.
judge_jitdump() {
	"$bts" top --json -n 0 jitdump.dat >"$work/text" &&
		grep -q '"function":"made_inner",.*"instructions":260,"branches":110,"calls":20' "$work/text" &&
		grep -q '"function":"made_outer",.*"instructions":50,' "$work/text" &&
		! grep -q made_before "$work/text" || return 1
	"$bts" graph made_inner jitdump.dat >"$work/text" &&
		grep -q '^ *20 .* made_outer ' "$work/text" && tail -n 1 "$work/text" | grep -q ' 0 gaps' ||
		return 1
	# The archive contains jit-PID.dump, so bts finds the names even without the original file.
	mkdir -p "$work/apart" && cp -r jitdump.dat jitdump.dat.archive "$work/apart" &&
		rm -f jit-*.dump && "$bts" top -n 0 "$work/apart/jitdump.dat" | grep -q ' made_inner '
}

# Convert a trace to version 6, which has neither compression nor an archive.
judge_version_6() {
	trace-cmd convert --file-version 6 -i calls.dat -o "$work/six.dat" >"$work/said" 2>&1 &&
		"$bts" info "$work/six.dat" | grep -q 'trace.dat version 6, none, ' &&
		"$bts" info --json "$work/six.dat" | grep -q '"version":6,"compression":"none"' ||
		return 1
	for trace in calls.dat "$work/six.dat"; do
		"$bts" dump -f csv "$trace" 2>/dev/null | awk -F , '$5 ~ /^0x/ { print $1, $3, $4, $5, $7 }' \
			>"$work/branches.$(basename "$trace")"
	done
	[ -s "$work/branches.six.dat" ] && cmp "$work/branches.calls.dat" "$work/branches.six.dat"
}

# Stock trace-cmd with the plugin must print the same rows as bts. Newer versions of trace-cmd print
# a column of flags before the time.
judge_plugin() {
	for trace in calls throws; do
		TRACEEVENT_PLUGIN_DIR=$(dirname "$bts") trace-cmd report -i "$trace.dat" \
			2>/dev/null | awk '$3 !~ /:$/ { $3 = ""; $0 = $0 }
				$4 ~ /^bts_(pack|branch):$/ {
				sub(/.*-/, "", $1); gsub(/[^0-9]/, "", $2); sub(":", "", $3)
				print $1, $2 + 0, $3, $5, $7 }' >"$work/theirs"
		"$bts" dump -f csv "$trace.dat" 2>/dev/null | python3 -c '
import csv, sys
for row in csv.reader(sys.stdin):
    if row[4].startswith("0x"):
        us = (int(row[0]) + 500) // 1000
        ends = (row[i + 1] if row[i].startswith("0xffff") else row[i] for i in (4, 6))
        print(row[2], row[3], "%d.%06d" % divmod(us, 1000000), *ends)' >"$work/ours"
		[ -s "$work/theirs" ] && cmp "$work/theirs" "$work/ours" | sed 's/^/# /'
		cmp -s "$work/theirs" "$work/ours" || return 1
	done
}

# llvm-bolt must not report a stale profile. The optimized program must print the same output as the
# original program.
judge_bolt() {
	"$bts" dump -f bolt --dso calls -o "$work/fdata" calls.dat >/dev/null &&
		"$1" calls -o "$work/bolted" -data "$work/fdata" -reorder-blocks=ext-tsp \
			-reorder-functions=hfsort -split-functions >"$work/log" 2>&1 || return 1
	grep -qi 'stale\|profile for .* ignored' "$work/log" && return 1
	grep -q 'have non-empty execution profile' "$work/log" &&
		[ "$("$work/bolted" 12)" = "$(./calls 12)" ] || return 1
	# While moved.dat was recorded, two different files had the same path, one after the other.
	"$bts" dump -f bolt moved.dat 2>"$work/said" | grep -q '^1 fib '
}

# Count branches with clang's instrumentation, and write the branch weights to $work/counted.ll.
count_branches() {
	clang -O1 -fprofile-instr-generate -o "$work/counting" "$progs/mix.c" || return 1
	for run in 1 2; do
		LLVM_PROFILE_FILE="$work/$run.profraw" "$work/counting" "$run" >"$work/said"
	done
	"llvm-profdata-$llvm" merge -o "$work/counts" "$work/1.profraw" "$work/2.profraw" &&
		$annotate -fprofile-instr-use="$work/counts" -o "$work/counted.ll" "$progs/mix.c"
}

# profile FORMAT COMMAND...: dump a profile. COMMAND must write the converted dump to $work/FORMAT.
profile() {
	format=$1
	shift
	"$bts" dump -f "$format" --dso mix -o "$work/raw" mix-1.dat mix-2.dat >/dev/null && "$@" &&
		"llvm-profdata-$llvm" show --sample "$work/$format" | grep -q '^Function: sort: ' &&
		$annotate -fprofile-sample-use="$work/$format" -o "$work/plain.ll" "$progs/mix.c" &&
		"opt-$llvm" -S -passes='function(add-discriminators),sample-profile' \
			-sample-profile-file="$work/$format" -o "$work/$format.ll" "$work/plain.ll" &&
		"$progs/../profile.py" "$work/counted.ll" "$work/$format.ll"
}

# In some packages of AutoFDO, create_llvm_prof does not support LLVM. If so, convert the dump of
# bts with create_gcov. LLVM can read the output of create_gcov, but clang's discriminators are
# shifted left by one bit in this output, so shift them back.
convert_autofdo() {
	create_llvm_prof --profiler=text --profile="$work/raw" --binary=mix \
		--out="$work/autofdo" 2>"$work/said" && return
	grep -q '^ERROR: LLVM .* support was not enabled' "$work/said" &&
		create_gcov --profiler=text --profile="$work/raw" --binary=mix \
			--gcov="$work/gcov" &&
		"llvm-profdata-$llvm" merge --sample --text -o - "$work/gcov" |
		awk -F '[.:]' '/^ [0-9]+[.][0-9]+:/ { sub(/[.][0-9]+:/, "." $2 / 2 ":") } { print }' \
			>"$work/autofdo"
}

# The combined profile of two runs must predict the same branch directions as the counts from
# clang's instrumentation.
judge_profiles() {
	llvm=$(clang -dumpversion | cut -d. -f1)
	annotate="clang -O1 -g -gdwarf-4 -fdebug-info-for-profiling -fno-inline -S -emit-llvm
		-Xclang -disable-llvm-passes"
	count_branches && profile profgen "llvm-profgen-$llvm" --binary=mix --use-offset=0 \
		--unsymbolized-profile="$work/raw" --output="$work/profgen" || return 1
	profile autofdo convert_autofdo || return 1
	"$bts" dump -f profgen mix-1.dat 2>"$work/said"
	[ $? -eq 2 ] && grep -q -e '--dso FILE or -k is needed' "$work/said"
}

# Like judge_bolt, but the profile contains addresses instead of names.
judge_bolt_pa() { # PERF2BOLT LLVM-BOLT
	"$bts" dump -f bolt-pa --dso calls -o "$work/pa" calls.dat >/dev/null &&
		"$1" calls -pa -p "$work/pa" -o "$work/fdata" >"$work/log" 2>&1 || return 1
	[ "$(grep -c 'function contents: 0 (\|unknown regions: 0 (' "$work/log")" -eq 2 ] &&
		"$2" calls -o "$work/bolted" -data "$work/fdata" -reorder-blocks=ext-tsp \
			-reorder-functions=hfsort -split-functions >"$work/log" 2>&1 || return 1
	! grep -qi 'stale' "$work/log" && grep -q 'have non-empty execution profile' "$work/log" &&
		[ "$("$work/bolted" 12)" = "$(./calls 12)" ]
}

# As root, perf enters the mount namespace of any task that happens to have a recorded PID, and
# searches for the programs there. So run perf without CAP_SYS_ADMIN.
perf_branches() {
	set -- perf script --itrace=b -i "$work/perf.data"
	[ "$(id -u)" -ne 0 ] || set -- setpriv --bounding-set -sys_admin "$@"
	"$@" >"$work/text" 2>/dev/null
}

calls_in_perf() { # FUNCTION
	grep -c "=> *[0-9a-f]* $1+0x0 " "$work/text"
}

# The linker discarded a function. bts must not give this function's name to other code.
judge_discarded() { # TRACE
	"$bts" top --inline --by line -n 0 "$1.dat" >"$work/lines" &&
		[ "$(grep -c '/discard\.c:' "$work/lines")" -gt 5 ] &&
		! grep 'discarded\.h' "$work/lines" &&
		! "$bts" top --inline -n 0 "$1.dat" | grep -w large
}

judge_untyped() {
	"$bts" replay untyped.dat >"$work/replay" &&
		[ "$(grep -c ' first();$' "$work/replay")" -eq 2 ] &&
		[ "$(grep -c ' second() {$' "$work/replay")" -eq 1 ] && ! grep -q again "$work/replay"
}

# In a static program, the stub of an ifunc such as strlen() must be named strlen@plt.
judge_stubs() {
	"$bts" report --no-lines static-lld.dat >"$work/report" &&
		grep -q -- '-> strlen@plt+0x0 ' "$work/report" &&
		grep -qE -- '-> (strchr|index)@plt[+]0x0 ' "$work/report"
}

judge_perf() {
	for trace in calls throws kernel-tree; do
		"$bts" dump -f perf -o "$work/perf.data" "$trace.dat" >"$work/said" &&
			perf_branches || return 1
		wanted=$(awk 'END { print $2 }' "$work/said")
		echo "# $trace: $wanted branches, perf prints $(wc -l <"$work/text")"
		[ "$wanted" -gt 1000 ] && [ "$(wc -l <"$work/text")" -eq "$wanted" ] || return 1
	done
	"$bts" dump -f perf -o "$work/perf.data" calls.dat >/dev/null &&
		perf_branches && [ "$(calls_in_perf fib)" -eq 615 ] || return 1
	# The program loads a library, then another at the same address, then the first one again.
	"$bts" dump -f perf -o "$work/perf.data" loads.dat >/dev/null &&
		perf_branches && [ "$(calls_in_perf twice)" -eq 20 ] && [ "$(calls_in_perf thrice)" -eq 10 ]
}

# Print the branches of each task, in order.
branches_of() { # TRACE
	"$bts" dump -f csv "$1" 2>/dev/null |
		awk -F, 'NR > 1 && $9 != "row" { print $3, $5, $7 }' | sort -s -k 1,1
}

# The dump has no AUX records, so its AUXTRACE records are the only source of the branches' times.
judge_import() {
	for trace in calls signals kernel-tree; do
		branches_of "$trace.dat" >"$work/wanted"
		"$bts" dump -f perf -o "$work/perf.data" "$trace.dat" 2>/dev/null &&
			"$bts" import -o "$work/import.dat" "$work/perf.data" 2>"$work/said" &&
			branches_of "$work/import.dat" | cmp "$work/wanted" - &&
			grep -q ' 1 task, .*nothing lost' "$work/said" || return 1
	done
	head -c 200000 "$work/perf.data" >"$work/cut.data"
	! "$bts" import -o "$work/import.dat" "$work/cut.data" 2>"$work/said" &&
		grep -q 'the file is truncated' "$work/said" &&
		"$bts" info "$work/import.dat" | grep -q 'lost ? (entry cannot be read)' &&
		"$bts" report --no-lines --tail 1 "$work/import.dat" |
			grep -q 'LOST branches (entry cannot be read)' &&
		branches_of "$work/import.dat" >"$work/a" && [ "$(wc -l <"$work/a")" -gt 8000 ] &&
		head -n "$(wc -l <"$work/a")" "$work/wanted" | cmp - "$work/a"
}

# The program traced in calls.dat computes fib(12). In calls-more.dat, the program computes
# fib(13): each of the 144 calls of fib(1) becomes a call of fib(2), which makes two calls itself.
judge_diff() {
	"$bts" diff calls.dat calls-more.dat >"$work/text"
	[ $? -eq 1 ] && grep -q '^calls-.*: 1 difference$' "$work/text" &&
		grep -q '^ *1 fib+.* depth is 12 in A, 13 in B, 144 times in all$' "$work/text" &&
		grep -q '^ *in .* > main > fib' "$work/text" &&
		! grep -q '^ *2 ' "$work/text" || return 1
	# With a filter, a call is counted only if at least one of its branches is shown.
	"$bts" diff --dso calls calls.dat calls-more.dat >"$work/text"
	[ $? -eq 1 ] && grep -q '^calls-.*: 1 difference$' "$work/text" &&
		"$bts" diff --dso libc.so.6 calls.dat calls-more.dat >"$work/text" || return 1
	# No branch distinguishes the run that failed from the run that passed, because the
	# recursion takes the same branches in both.
	"$bts" diff calls.dat --against calls-more.dat >"$work/text" &&
		grep -qx '1 run passed, 1 failed' "$work/text" || return 1
	# The 40 passed runs are the same, so bts must keep only one of their traces open. If all
	# traces stayed open, bts would need more memory than this limit.
	# shellcheck disable=SC2046 # words
	prlimit --as=300000000 "$bts" diff $(yes calls.dat | head -n 40) --against calls-more.dat \
		>"$work/text" 2>&1 && grep -qx '40 runs passed, 1 failed' "$work/text"
}

# misused COMMAND...
misused() {
	"$bts" "$@" 2>"$work/said" >"$work/text"
	[ $? -eq 2 ] && grep -q 'must be a whole number, at least' "$work/said"
}

# bts must report an invalid number in an option, a filter that matches nothing, an unknown function
# and a missing trace. A correct command must print no message.
judge_misspelt() {
	misused top -n -1 throws.dat && misused top -n '' throws.dat && misused replay -D 0 throws.dat &&
		misused diff -n 1x throws.dat throws.dat || return 1
	for filter in '--task nosuch' '--dso nosuch' '--from nosuch' '--to nosuch' '--pid 1 --cpu 9'; do
		# shellcheck disable=SC2086 # an option and its value
		"$bts" top $filter throws.dat >"$work/text" 2>"$work/said" &&
			grep -q "^bts: no branch of the trace matches ${filter%% *}" "$work/said" || return 1
	done
	"$bts" top --task nosuch throws.dat 2>/dev/null | tail -n 1 |
		grep -q '^# 0 branches, 0 tasks, 0 switches' || return 1
	"$bts" replay -F nosuch throws.dat 2>"$work/said" >"$work/text" && return 1
	grep -q '^bts: replay: nosuch: no such function' "$work/said" || return 1
	"$bts" diff throws.dat nosuch 2>"$work/said" >"$work/text" && return 1
	grep -q '^bts: read: nosuch: ' "$work/said" && ! grep -q 'only in A' "$work/text" || return 1
	"$bts" top throws.dat 2>"$work/said" >"$work/text" && [ ! -s "$work/said" ]
}

# Leave out each Nth pack. The remaining branches and the reported losses must add up to the whole
# trace. Only the last pack of each CPU may be absent from the sum, because no later pack shows that
# the last pack is missing.
judge_losses() {
	build_generate || return 1
	for trace in calls throws; do
		whole=$("$bts" top "$trace.dat" | awk 'END { print $2 }')
		for nth in 2 3 7 13; do
			"$work/generate" "$trace.dat" "$work/lossy.dat" 1 packs none "$nth" &&
				"$bts" report "$work/lossy.dat" >"$work/text" || return 1
			awk -v whole="$whole" '
				/ LOST [0-9]/ { for (i = 1; i < NF; i++) if ($i == "LOST") lost += $(i + 1) }
				/ -> / { n++ }
				END {
					for (i = 1; i < NF; i++) if ($i == "lost") bill = $(i + 1)
					all = n + lost
					exit n != $2 || bill != lost || all > whole || whole - all > 1024
				}' "$work/text" || { echo "# $trace, each ${nth}th"; return 1; }
			"$bts" replay "$work/lossy.dat" >"$work/text" || return 1
			grep -q 'LOST [0-9]' "$work/text" || return 1
		done
	done
}

# running TRACE: print the number of functions that were already running when the trace began.
running() {
	"$bts" replay "$1" >"$work/text" && grep -c '// running before' "$work/text"
}

# Leave out some branches that enter the kernel. bts must keep the program's stack in user space,
# and its summary must contain "stacks guessed". (If bts discarded the stack, the call tree would
# show more functions as "running before" the trace.)
judge_ways_in() {
	build_generate || return 1
	"$bts" dump -f csv kernel.dat 2>/dev/null |
		awk -F, '$9 == "syscall" && !seen[$5]++ { print $5 }' >"$work/from"
	whole=$(running kernel.dat)
	tail -n 1 "$work/text" | grep -q ' 0 gaps' && ! grep -q guessed "$work/text" || return 1
	ln -sf "$dir/kernel.dat.archive" "$work/in.dat.archive"
	for nth in 2 5; do
		# shellcheck disable=SC2046 # addresses
		out=$("$work/generate" kernel.dat "$work/in.dat" 1 packs none "$nth" \
			$(cat "$work/from")) || return 1
		lossy=$(running "$work/in.dat")
		echo "# every ${nth}th entry into the kernel: $out; functions running before the trace:" \
			"$lossy, without losses $whole"
		[ "${out%% *}" -gt 20 ] && [ "$lossy" -le $((whole + 2)) ] &&
			tail -n 1 "$work/text" | grep -q ' [0-9]* stacks guessed' || return 1
	done
}

# each_a_gap ENV TRACE OUT N...: for each N, copy TRACE to OUT, but leave out every Nth branch that
# begins at an address in $work/from. If ENV is BTS_WRONG=1, keep these branches, but change
# where they begin. Each change must cause a gap, and OUT must have no other gaps.
each_a_gap() {
	env=$1
	whole=$2
	spoilt=$work/$3
	shift 3
	for nth; do
		# shellcheck disable=SC2046 # addresses
		out=$(env ${env:+"$env"} "$work/generate" "$whole" "$spoilt" 1 packs none "$nth" \
			$(cat "$work/from")) || return 1
		gaps=$("$bts" top -n 0 "$spoilt" | sed -n 's/.* \([0-9]*\) gaps.*/\1/p')
		echo "# every ${nth}th branch: $out; $gaps gaps"
		[ "${out%% *}" -gt 20 ] && [ "${out%% *}" -eq "$gaps" ] || return 1
	done
}

# Test several processes that run the same program at different addresses.
judge_clones() {
	build_generate || return 1
	for trace in calls throws kernel-tree; do
		BTS_PROCESSES=3 "$work/generate" "$trace.dat" "$work/clones.dat" 3 packs zstd &&
			ln -sfn "$dir/$trace.dat.archive" "$work/clones.dat.archive" &&
			"$progs/../clones.py" "$bts" "$trace.dat" "$work/clones.dat" 3 \
				2>"$work/said" || return 1
	done
}

# Read a part of a long trace, without and with an index. With an index, the reader does not read
# the earlier parts, and therefore does not find damage in those parts.
judge_window() {
	build_generate || return 1
	window=$work/window.dat
	ln -sfn "$dir/calls.dat.archive" "$window.archive"
	for chunk in '' 4; do
		env BTS_SMALL=1 BTS_TASKS=10 ${chunk:+BTS_INDEX=$chunk} \
			"$work/generate" calls.dat "$window" 10 packs zstd || return 1
		csv "$window" | awk -F, '
			NR == 2 { first = $1 }
			END { printf "%.3f %.3f\n", (first + .6 * ($1 - first)) / 1e9,
				(first + .7 * ($1 - first)) / 1e9 }' >"$work/times"
		read -r from to <"$work/times"
		filter "$window" "\$1 >= ${from}e9 && \$1 <= ${to}e9" --time "$from,$to" ||
			return 1
	done
	mv "$work/ours" "$work/undamaged"
	printf 'damage' | dd of="$window" bs=1 conv=notrunc seek=$(($(stat -c %s "$window") / 3)) \
		2>"$work/said" || return 1
	! "$bts" top "$window" >"$work/text" 2>&1 &&
		csv --time "$from,$to" "$window" | cmp - "$work/undamaged"
}

# Leave out some records of forward jumps in the kernel, but add no loss row. The tool must find a
# gap for each of these records. (If a backward jump is missing, there may be no gap, because the
# remaining branches may still form a valid path.)
judge_missing() {
	build_generate || return 1
	"$bts" dump -f csv kernel.dat 2>/dev/null | awk -F, '
		$5 ~ /^0xffff/ && $9 == "jmp" && $7 "" > $5 "" &&
			!seen[$5]++ && ++n % 2 { print $5 }' | head -n 200 >"$work/from"
	[ "$(wc -l <"$work/from")" -ge 50 ] || return 1
	ln -s "$dir/kernel.dat.archive" "$work/thin.dat.archive"
	# Between two missing records, at least one record remains, so each missing record causes
	# its own gap.
	each_a_gap "" kernel.dat thin.dat 2 3 5
}

# Replace the source addresses of some branches by wrong addresses. Each of these branches must
# cause a gap.
judge_wrong() {
	build_generate || return 1
	"$bts" dump -f csv calls.dat 2>/dev/null | awk -F, '
		$6 ~ /^(fib|choose|sum|main)[+]/ && $9 ~ /^(call|jmp|jcc)$/ && $10 > 1 &&
			!seen[$5]++ { print $5 }' >"$work/from"
	[ "$(wc -l <"$work/from")" -ge 8 ] || return 1
	each_a_gap BTS_WRONG=1 calls.dat wrong.dat 2 7
}

# kinds TRACE: print the addresses and the kind of each branch.
kinds() {
	csv "$1" | cut -d, -f5,7,9 | sort -u
}

# Leave out some calls. After a missing call, the next branch often begins at an unexpected address.
# bts must decode the instruction there, and find the same kind of branch as in the whole trace.
judge_far() {
	build_generate || return 1
	csv calls.dat | awk -F, '$9 ~ /^call/ && !seen[$5]++ { print $5 }' >"$work/from"
	ln -sfn "$dir/calls.dat.archive" "$work/far.dat.archive"
	# shellcheck disable=SC2046 # addresses
	"$work/generate" calls.dat "$work/far.dat" 1 packs none 3 $(cat "$work/from") >"$work/text" &&
		"$bts" top -n 0 "$work/far.dat" | grep -q ' [1-9][0-9][0-9] gaps' || return 1
	kinds calls.dat >"$work/theirs"
	kinds "$work/far.dat" | comm -13 "$work/theirs" - >"$work/ours"
	sed 's/^/# /; 5q' "$work/ours"
	[ "$(wc -l <"$work/theirs")" -gt 100 ] && [ ! -s "$work/ours" ]
}

# Only filtered.dat and moved.dat may have gaps. While filtered.dat was recorded, the hardware's
# buffer wrapped around. While moved.dat was recorded, cp overwrote a program that had already run.
judge_gaps() {
	for trace in *.dat; do
		case $trace in
		filtered.dat | moved.dat) continue ;;
		esac
		"$bts" top -n 0 "$trace" | tail -n 1 | grep -q ' nothing lost, 0 gaps' || {
			echo "# $trace"
			return 1
		}
	done
}

no_difference() {
	"$bts" diff calls.dat calls.dat >/dev/null
}

kernel_changed() {
	[ -s kernel-changed.dat.archive/kcore.before ] &&
		! [ -e kernel.dat.archive/kcore.before ]
}

echo "TAP version 13"
judge callgrind valgrind "callgrind, ./calls: instructions and calls of each function" \
	judge_callgrind calls 12
judge callgrind valgrind "callgrind, ./calls-O0: instructions and calls of each function" \
	judge_callgrind calls-O0 8
judge callgrind valgrind "callgrind, ./throws: instructions and calls of each function" \
	judge_callgrind throws
judge lld - "a program has the same counts, whether lld or ld links it" judge_lld
judge debug objcopy "debug information by build ID" judge_debug_id
judge debug objcopy "debug information through .gnu_debuglink, if the CRC matches" judge_debuglink
judge debug xz "symbols in .gnu_debugdata" judge_debugdata
judge nameless - "functions of a stripped program are named by their addresses" judge_nameless
# The test needs libdebuginfod. Check for gdb, because the gdb package depends on libdebuginfod.
judge debuginfod gdb "debug information from debuginfod" judge_debuginfod
judge proof - "names from unverified files are marked" judge_proof
judge plt objdump "objdump: the names of PLT stubs" judge_plt
judge gcov gcov "gcov: how often each line ran" judge_gcov
judge gcov gcov "gcov: the sum of five runs" judge_five
judge gcov genhtml "bts cover --tests turns five traces into five tests for genhtml" judge_tests
judge vmlinux gcov "gcov: how often each line of a kernel ran" judge_vmlinux
judge genhtml genhtml "genhtml opens the coverage" judge_genhtml
judge genhtml genhtml "genhtml finds all functions of a C++ program" judge_overloads
judge drcov readelf "drcov: addresses relative to the file's first address" judge_drcov
judge annotate callgrind_annotate "callgrind_annotate and bts top print equal instruction counts" \
	judge_annotate
judge annotate - "callgrind: a source line that makes calls has a cost of its own" judge_call_lines
judge order - "the order in the callgrind dump depends only on the trace" judge_order
judge folded - "the folded stacks contain as many instructions as bts top counts" judge_folded
judge flame - "the flame graph contains as many instructions as bts top counts" judge_flame
judge chrome - "calls in the timeline are nested" judge_chrome
judge perfetto protoc "the same timeline in Perfetto's format" judge_perfetto
judge json - "report --json has as many branches as the summary" judge_json
judge stacks - "stacks after exceptions, signals and dlopen" judge_stacks
judge tree - "call tree: correct after longjmp(), callbacks and signals" judge_tree tree-c tree-c
judge tree - "call tree: not changed by branches in the kernel" judge_tree kernel-tree tree-c
judge tree - "call tree: not changed by a uprobe" judge_tree probed tree-c
judge tree - "call tree: exceptions" judge_tree tree-cc tree-cc
judge tree - "call tree: without the branches from the kernel to user space" judge_filtered
judge head - "replay --head" judge_head
judge fibers - "call tree: several stacks" judge_tree fibers fibers
judge gdb gdb "gdb: the stacks in six programs" judge_gdb
judge filters - "each filter selects the right branches" judge_filters
judge moves - "if a task moves between CPUs, replay --cpu shows gaps, not false jumps" judge_moves
judge idle - "idle tasks of several CPUs" judge_idle
judge bounds - "functions do not get names such as __sched_text_start" judge_bounds
judge tail - "the last rows of a report" judge_tail
judge stdin - "a trace on standard input" judge_stdin
judge window - "reading a part of a trace, with and without an index" judge_window
judge misspelt - "names that are not in the trace" judge_misspelt
judge graph - "graph counts the calls of fib" judge_graph
judge graph - "top, cover and callgrind count the same calls" judge_calls
judge graph - "top, callgrind and folded stacks count the same branches of each side" judge_sides
judge names - "functions with the same name are distinguished" judge_names
judge inline callgrind_annotate "the call tree shows inlined calls like other calls" judge_inline
judge inline - "callgrind: each callee is in the dump" judge_inline_callees
judge inline gcov "gcov: how often each function was entered, inlined or not" judge_inline_calls
judge inline llvm-addr2line "llvm-addr2line: the inlined functions at each branch" judge_inline_places
judge demangled - "functions are found by each of their names" judge_demangled
judge diff - "diff finds a deeper recursion, and nothing else" judge_diff
judge diff - "a trace does not differ from itself" no_difference
judge jit - "bts finds the names of JIT-compiled functions" judge_jit
judge jit - "bts finds the names and the code of JIT-compiled functions in a memfd" judge_jitdump
judge version trace-cmd "bts reads the same branches from files of versions 6 and 7" judge_version_6
judge plugin trace-cmd "trace-cmd report with the plugin prints the same rows as bts" judge_plugin
bolt=$(newest llvm-bolt)
judge bolt "${bolt:-llvm-bolt}" "llvm-bolt accepts the profile" judge_bolt "$bolt"
judge profiles create_llvm_prof "llvm-profgen, AutoFDO and clang accept the profiles" \
	judge_profiles
perf2bolt=$(newest perf2bolt)
judge bolt "${perf2bolt:-perf2bolt}" "perf2bolt accepts the profile with addresses" \
	judge_bolt_pa "$perf2bolt" "$bolt"
judge discarded - "discarded functions, ld.bfd" judge_discarded discard-bfd
judge discarded - "discarded functions, lld" judge_discarded discard-lld
judge untyped - "functions whose symbols have no type and no size" judge_untyped
judge stubs - "stubs in a static program, lld" judge_stubs
judge perf perf "perf script prints each branch of the dump" judge_perf
judge import - "bts imports a whole dump and a truncated dump in perf's format" judge_import
judge losses - "present and lost branches add up to the whole trace" judge_losses
judge clones python3 "copies of a process at other addresses have the same branches and calls" \
	judge_clones
judge missing - "a missing branch in the kernel is reported as a gap" judge_missing
judge ways - "bts keeps the program's stack if a branch into the kernel is missing" judge_ways_in
judge wrong - "if the source address of a branch is wrong, bts reports a gap" judge_wrong
judge far - "if the trace lacks a call, bts still finds the kind of the next branch" judge_far
judge gaps - "if the kernel changes its code, the earlier version is also archived" kernel_changed
judge gaps - "no trace has a gap or a loss" judge_gaps
judge lib g++ "libbts.so.0 exports what its header declares" judge_lib_exports
judge lib objdump "libbts does not print, does not exit, and has no global state" judge_lib_quiet
judge lib_example valgrind "callgrind: the example of libbts counts the same calls" \
	judge_lib_example
judge lib g++ "libbts.py gives the same answers" judge_lib_python
judge lib_threads - "libbts gives the same answers in several threads" judge_lib_threads
for what in calls top inline resize quit loss progress differences bad colour; do
	judge tui tmux "tui: $what" judge_tui $what
done
echo "1..$n"
exit $failed
