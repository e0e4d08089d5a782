#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Record the runs that toggles.py compares: record.sh DIR BTS LIST
#
# Each line of LIST contains the name of a trace, its program, and the argument. The programs are in
# DIR. The script needs root, and a kernel with the bts tracer.

set -eu

cd "$1"
while read -r name program argument; do
	"$2" record -u -o "$name.dat" -- "./$program" "$argument" </dev/null >said || [ $? -lt 125 ] || {
		cat said
		exit 1
	}
done <"$3"
