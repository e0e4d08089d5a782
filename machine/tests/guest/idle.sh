#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# guest/idle.sh: trace the idle tasks on CPUs that record a wrong source for the first branch after
# HLT. The trace must show the wrong source, and must show the right source for the next branch.

cd /sys/kernel/tracing || exit
echo 0 > tracing_on
echo 0 > options/bts-user
echo 20000 > buffer_size_kb
echo bts > current_tracer
echo 0 > set_ftrace_pid
echo 1 > tracing_on
sleep .3
echo 0 > tracing_on

# Count interrupts whose source address is in user space. Such addresses are wrong, because idle
# tasks run only in the kernel. Wrong addresses in the kernel occur, too, but are not counted.
status=0
for trace in per_cpu/cpu*/trace; do
	awk '
		entry { if (index($(NF - 2), entry "+") != 1) bad++; entry = "" }
		$NF ~ /^asm_sysvec_.*\+0x0\// {
			entry = $NF
			sub(/\+.*/, "", entry)
			if ($(NF - 2) ~ /^0x/)
				wrong++
		}
		END {
			print wrong + 0 " wrong sources, " bad + 0 " branches without a successor"
			exit !wrong || bad
		}
	' "$trace" || status=1
done
grep -x 'unsure: 0' bts_stats || status=1
exit $status
