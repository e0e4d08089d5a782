#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# guest/tool-kernel.sh DIR PROGRAM BTS: with the user tool at the path BTS, record PROGRAM (asks.c),
# which waits for a byte. Write the trace, the tool's output and the kernel's symbols to DIR. When
# this script prints "ready", the judge switches the emulator's log on. When this script prints
# "done", the judge switches the log off. After each switch, the judge sends a line to this script.

set -e

mkfifo /tmp/go /tmp/gone
exec 3<> /tmp/go 4<> /tmp/gone
"$2" < /tmp/go > /tmp/gone &
program=$!
"$3" record -p $program -o "$1/t.dat" 2> "$1/said" &
bts=$!
until grep -qs 1 /sys/kernel/tracing/instances/bts-$bts/tracing_on; do
	sleep 0.1
done
sleep 0.5
cat /proc/kallsyms > "$1/kallsyms"
echo ready
read -r _
echo >&3
read -r _ <&4
sleep 0.01
echo "done"
read -r _
kill -INT $bts
wait $bts
kill $program
