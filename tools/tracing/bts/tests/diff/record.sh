#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Records runs of programs whose branches their argument decides: record.sh DIR BTS LIST
#
# LIST has a line for each trace: its name, the program, the argument. As root, where there is a
# bts tracer; the programs are in DIR.

set -eu

cd "$1"
while read -r name program argument; do
	"$2" record -u -o "$name.dat" -- "./$program" "$argument" </dev/null >said || [ $? -lt 125 ] || {
		cat said
		exit 1
	}
done <"$3"
