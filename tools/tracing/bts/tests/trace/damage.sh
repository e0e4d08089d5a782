#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Run damage.py on several kinds of traces: damage.sh DIR SERVE. DIR contains calls.dat and
# loads.dat, which record.sh recorded. SERVE is the program that was built from serve.c. The folder
# that contains SERVE also contains the tool's library. Print KTAP.
#
# Most of a trace consists of formats and symbols, and the trace is compressed, so random damage
# seldom reaches a branch. Therefore also generate small traces: a compressed trace with packs, an
# uncompressed trace with packs, and an uncompressed trace with an entry for each branch.

set -eu

dir=$1
serve=$2
progs=$(cd -P -- "$(dirname -- "$0")/progs" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck source=tools/tracing/bts/tests/trace/generate.sh
. "$progs/../generate.sh"
# shellcheck source=tools/tracing/bts/tests/lib/lib.sh
. "$progs/../../lib/lib.sh"

build_generate
export BTS_SMALL=1
"$work/generate" "$dir/calls.dat" "$work/packed.dat" 1 packs zstd
"$work/generate" "$dir/calls.dat" "$work/entries.dat" 1 entries none
"$work/generate" "$dir/calls.dat" "$work/packs.dat" 1 packs none
lib_sanitized "$(dirname "$serve")"
"$progs/../damage.py" "$serve" 10000 "$work" "$(realpath "$dir/calls")" "$dir/loads.dat" \
	"$work/packed.dat" "$work/entries.dat" "$work/packs.dat"
