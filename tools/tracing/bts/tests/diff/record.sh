#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Record programs for toggles.py, each with several arguments: record.sh DIR BTS LIST
#
# LIST has a line for each trace: its name, the program, the argument. The programs are in DIR.
# Needs root, and a kernel with the bts tracer.

set -eu

cd "$1"
while read -r name program argument; do
	"$2" record -u -o "$name.dat" -- "./$program" "$argument" </dev/null >said || [ $? -lt 125 ] || {
		cat said
		exit 1
	}
done <"$3"
