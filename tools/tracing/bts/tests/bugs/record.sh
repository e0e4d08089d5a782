#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Record the runs of the mutants: record.sh DIR BTS
#
# DIR/runs contains a line "run NAME INPUT COMMAND..." for each run. The status of the run, and the
# hashes of its output and its error messages, are written to DIR/results/NAME. The script needs
# root, and a kernel with the bts tracer.

set -eu

cd "$1"
bts=$2
export LC_ALL=C
mkdir -p traces results

run() { # NAME INPUT COMMAND...
	name=$1
	input=$2
	shift 2
	status=0
	"$bts" record -u -o "traces/$name.dat" -- "$@" <"$input" >/tmp/out 2>/tmp/said || status=$?
	grep -q '^traces/.* branches, ' /tmp/said || {
		cat /tmp/said
		exit 1
	}
	grep -av '^traces/\|^bts: ' /tmp/said | sed "s|$1|program|g" >/tmp/errors
	printf '%d %s %s\n' "$status" "$(hash /tmp/out)" "$(hash /tmp/errors)" >"results/$name"
}

hash() {
	sha256sum "$1" | cut -c 1-16
}

# shellcheck disable=SC1091 # written by bugs.py
. ./runs
