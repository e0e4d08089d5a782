# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
#
# Test libbts. judge.sh and damage.sh set $progs and $work, and then source this file. judge.sh also
# sets $bts to the tool in the library's build directory, and defines the functions
# callgrind_counts, arcs and own_functions.
#
# shellcheck disable=SC2154

tests=$(cd -P -- "$progs/../.." && pwd)
header=$tests/../include/libbts.h

# Install the library with make install. Programs find the library with pkg-config.
lib_install() {
	root=$work/root
	libdir=$root/opt/bts/lib
	[ -d "$root" ] || make -s -C "$tests/.." O="$(dirname "$bts")" DESTDIR="$root" \
		PREFIX=/opt/bts lib_install >/dev/null || return
	export PKG_CONFIG_SYSROOT_DIR="$root" PKG_CONFIG_PATH="$libdir/pkgconfig"
	export LD_LIBRARY_PATH="$libdir"
}

# lib_build PROGRAM SOURCE
lib_build() {
	# shellcheck disable=SC2046 # options
	lib_install && gcc -O1 -Wall -Wextra -Wno-unused-parameter -o "$work/$1" "$2" \
		$(pkg-config --cflags --libs libbts) -lpthread
}

# empty TEXT: if TEXT is not empty, print TEXT and fail.
empty() {
	[ -z "$1" ] || printf '# %s\n' "$1"
	[ -z "$1" ]
}

# The library must export only the header's functions. The header must also be valid C++.
judge_lib_exports() {
	lib_install || return
	nm -D --defined-only "$libdir/libbts.so" |
		awk '$2 != "A" { sub(/@.*/, "", $3); print $2, $3 }' | sort >"$work/theirs"
	sed -n 's/^[a-z].*[ *]\(bts_[a-z_]*\)(.*/T \1/p' "$header" | sort >"$work/ours"
	[ -s "$work/ours" ] && diff "$work/ours" "$work/theirs" | sed 's/^/# /' &&
		cmp -s "$work/ours" "$work/theirs" &&
		readelf -d "$libdir/libbts.so" | grep -q 'SONAME.*\[libbts\.so\.0\]' &&
		g++ -Wall -Wextra -fsyntax-only -x c++ "$header"
}

# The library must not print, must not end the program, and must not have writable data that
# several traces share. Data that belong to one thread, or that are set only once, are allowed.
judge_lib_quiet() {
	archive=$(dirname "$bts")/libbts.a
	calls=$(nm -u "$archive" | awk '{ print $2 }' | grep -xE \
		'_?_?(v?f?d?w?printf|puts|f?puts|f?putw?c|putw?char|fwrite|perror|v?errx?|v?warnx?|error|v?syslog|_?_?exit|_Exit|quick_exit|abort|assert_fail|stdout|stderr)(_chk|_unlocked)?')
	data=$(objdump -t "$archive" | awk '/ \.(t?bss|t?data|data\.rel)(\.local)?\t/ && $NF !~ /^\./ { print $NF }' |
		grep -vxE 'innermost|failure')
	[ -n "$(nm -u "$archive")" ] && empty "$calls" && empty "$data"
}

# The example must have at most 40 lines, and must count each function's calls as callgrind does.
judge_lib_example() {
	source=$tests/../../../../Documentation/tools/bts/libbts-example.c
	[ "$(wc -l <"$source")" -le 40 ] && lib_build example "$source" &&
		callgrind_counts ./calls 12 >/dev/null || return
	own_functions calls >"$work/own"
	arcs "$work/cg" | awk '{ n[$2] += $3 } END { for (f in n) print f, n[f] }' | sort >"$work/a"
	"$work/example" calls.dat calls | awk '{ print $2, $1 }' | sort | join - "$work/a" |
		awk '{ print $1, $2 }' >"$work/b"
	[ -s "$work/a" ] && diff "$work/a" "$work/b" | sed 's/^/# /' && cmp -s "$work/a" "$work/b" &&
		! "$work/example" calls calls >"$work/said" 2>&1 &&
		[ "$(cat "$work/said")" = "read: calls: not a trace.dat file" ]
}

# The structures in libbts.py and libbts.h must have the same layout, and the Python example must
# print the same counts as the C example. The manual's Python session must work. Ctrl-C, and an
# exception in a callback, must reach the caller of run(). Failed calls must raise libbts.Error.
judge_lib_python() {
	lib_install || return
	docs=$tests/../../../../Documentation/tools/bts
	export PYTHONPATH="$tests/../python" PYTHONDONTWRITEBYTECODE=1
	lib_build example "$docs/libbts-example.c" &&
		"$work/example" calls.dat calls >"$work/c" &&
		python3 "$docs/libbts-example.py" calls.dat calls >"$work/python" &&
		[ -s "$work/c" ] && cmp "$work/c" "$work/python" || return
	set -- python3 "$tests/lib/layout.py" gcc -I"$tests/../include"
	"$@" && ! "$@" -DBTS_CALL=BTS_RET 2>/dev/null || return
	empty "$(python3 -m doctest "$docs/libbts.rst" 2>&1)" || return
	said=$(python3 - 2>&1 <<-'END'
		import ctypes
		import errno
		import signal

		import libbts

		signal.signal(signal.SIGALRM, signal.default_int_handler)

		def fail(task, frame):
		    raise KeyError("mine")

		with libbts.open("calls.dat") as trace:
		    try:
		        trace.run(call=fail)
		        print("not raised")
		    except KeyError:
		        pass
		    try:
		        trace.run()
		        print("read twice")
		    except libbts.Error as error:
		        if error.errno != errno.EALREADY or "memory" in str(error):
		            print(error)

		# Objects may be used after the callback returns, but not after the trace is closed.
		kept = []
		rows = []
		with libbts.open("calls.dat") as trace:
		    trace.run(branch=lambda task, branch: kept.append((branch.to, str(branch.to))),
		              row=lambda task, row: rows.append((row, str(row))))
		    if not all(str(place) == text for place, text in kept + rows):
		        print("objects have changed")
		    totals = trace.totals
		if totals.branches != len(kept):
		    print(totals.branches, len(kept))
		for use in (trace.run, trace.tasks, lambda: trace.set("user"), lambda: trace.totals):
		    try:
		        use()
		        print("used after close")
		    except (ValueError, ctypes.ArgumentError) as error:
		        if "is closed" not in str(error):
		            print(error)

		# Ctrl-C must end each run, whenever the signal arrives.
		for number in range(40):
		    left = False
		    with libbts.open("kernel.dat", user=True) as trace:
		        signal.setitimer(signal.ITIMER_REAL, 0.02 + number / 1000)
		        try:
		            trace.run(branch=lambda task, branch: None)
		        except KeyboardInterrupt:
		            left = True
		        signal.setitimer(signal.ITIMER_REAL, 0)
		    if not left:
		        print("Ctrl-C was ignored")
		try:
		    libbts.open("calls")
		    print("opened")
		except libbts.Error as error:
		    if str(error) != "read: calls: not a trace.dat file":
		        print(error)
	END
	)
	empty "$said"
}

# The library must not print, so all output must come from the program "ask".
judge_lib_threads() {
	lib_build ask "$tests/lib/ask.c" && "$work/ask" calls.dat throws.dat names.dat kernel.dat \
		calls.dat >"$work/text" 2>&1
	status=$?
	sed 's/^/# /' "$work/text"
	[ "$status" = 0 ] && grep -qx '[0-9]* branches' "$work/text"
}

# lib_sanitized DIR: build ask.c and memory.c with the sanitizers and with the library in DIR.
lib_sanitized() {
	wraps=-Wl,--wrap=malloc,--wrap=calloc,--wrap=reallocarray,--wrap=strdup,--wrap=vasprintf
	set -- "$1/libbts.a" -g -O1 -D_GNU_SOURCE -fsanitize=address,undefined \
		-fno-sanitize-recover=undefined -I"$tests/../include" -ldw -lelf -lzstd \
		-liberty -lpthread
	gcc -o "$work/ask" "$tests/lib/ask.c" "$@" &&
		gcc -o "$work/memory" "$tests/lib/memory.c" "$@" "$wraps"
}
