# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# What the parts share. A part is a program that prints KTAP; machine/tests/run has put into
# the environment, if it is other than the default:
#
#	BTS_OUT		a directory of the part's own (build/test/NAME)
#	BTS_KERNEL, BTS_QEMU	image and emulator, which machine/vm/run looks at itself
#	BTS_SELFTESTS	tools/testing/selftests/ftrace (build/linux's)
#	BTS_CASE	only cases whose names begin so
#	BTS_SLOW	1: the slow cases too
#
# Its exit status: 0 all passed, 1 not; or that of a machine that did not come to its end.
# The caller has set $top.

# shellcheck source=machine/lib.sh disable=SC2154
. "$top/machine/lib.sh"
# shellcheck source=machine/vm/machine.sh
. "$top/machine/vm/machine.sh"
# shellcheck disable=SC1091 # the kernel's own, built tree
. "$build/linux/tools/testing/selftests/kselftest/ktap_helpers.sh"

out=${BTS_OUT:-$build/test/${0##*/}}
selftests=${BTS_SELFTESTS:-$build/linux/tools/testing/selftests/ftrace}
# shellcheck disable=SC2034
cases=$selftests/test.d/bts
guests=$top/machine/tests/guest
# What the guests have in their environment, too.
export BTS_PROGS="$build/test-programs"
export BTS_PACK="${BTS_PACK:-0}"
export BTS_ACCOUNT="$cases/account.awk"
mkdir -p "$out"

# result STATUS NAME: one test's line.
result() {
	if [ "$1" -eq 0 ]; then
		ktap_test_pass "$2"
	else
		ktap_test_fail "$2"
	fi
}

# guest TIMEOUT "OPTIONS" COMMAND...: one machine; what `info bts` and the console say at
# its end is part of the result. Its files are in $guest_dir.
#
# Guests run with --icount: how busy the host is does not change what they do. Each
# exception has its reason beside its command. TIMEOUT is the host's, and generous.
guest_dir=$out
guest() {
	guest_timeout=$1
	guest_options=$2
	shift 2
	mkdir -p "$guest_dir"
	# shellcheck disable=SC2086 # options
	"$top/machine/vm/run" --strict --timeout "$guest_timeout" --mem 1024 \
		--share "$guest_dir" --console "$guest_dir/console" \
		--info-bts "$guest_dir/info" $guest_options -- "$@"
}

# ask NAME SCRIPT [OPTION...]: a guest whose shell says by its status whether all is as it
# should be; what else it says are comments.
ask() {
	ask_name=$1
	ask_script=$2
	shift 2
	"$top/machine/vm/run" --strict --timeout 900 --icount --console "$out/$ask_name" "$@" \
		-- sh "$guests/$ask_script" > "$out/said" 2>&1 < /dev/null
	ask_status=$?
	sed 's/^/# /' "$out/said"
	[ "$ask_status" -eq 0 ] || echo "# status $ask_status"
	return $ask_status
}
