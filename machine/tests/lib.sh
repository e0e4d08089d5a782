# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# Shared by the parts. A part is a program that prints KTAP. machine/tests/run sets these
# variables if they differ from the default:
#
#	BTS_OUT		a directory of the part's own (build/test/NAME)
#	BTS_KERNEL, BTS_QEMU	image and emulator, which machine/vm/run looks at itself
#	BTS_SELFTESTS	tools/testing/selftests/ftrace (build/linux's)
#	BTS_CASE	only cases whose names begin so
#	BTS_SLOW	1: the slow cases too
#
# A part's exit status is 0 if all passed, 1 if not, or that of a machine that was lost. The
# caller has set $top.

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

# guest TIMEOUT "OPTIONS" COMMAND...: runs a guest. Trouble on its console fails it. Its files,
# with the output of `info bts`, are in $guest_dir.
#
# Guests run with --icount: a busy host does not change what they do. A part that does
# otherwise says why. TIMEOUT is in seconds of the host's, and generous.
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

# ask NAME SCRIPT [OPTION...]: runs guest/SCRIPT in a guest. Status 0 means that all is as it
# should be. The output goes into comments.
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
