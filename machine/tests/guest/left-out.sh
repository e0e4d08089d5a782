#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# guest/left-out.sh [WORDS]: in a guest in which BTS does not work on CPU 1, check that the tracer
# records only on CPU 0, and reports that BTS does not work on CPU 1. With WORDS, CPU 1 is online
# when the tracer is chosen, and error_log must contain WORDS. Without WORDS, CPU 1 comes online
# while CPU 0 records branches. The exit status identifies the failed step.

cd /sys/kernel/tracing || exit
cpu1=/sys/devices/system/cpu/cpu1/online
[ "$(cat $cpu1)" -eq $((${1:+1} + 0)) ] || exit 1
echo bts > current_tracer || exit 2
if [ "${1:-}" ]; then
	cat error_log
	grep -q "$1" error_log || exit 3
else
	echo 1 > $cpu1 || exit 3
	dmesg | grep "CPU 1: BTS does not work, so this CPU's branches are not recorded" || exit 4
fi
sleep 0.1
[ "$(cat $cpu1)" -eq 1 ] || exit 4
grep "^cpus_recording: 1$" bts_stats || exit 9
echo 0 > tracing_on
grep "LOST branches (BTS does not work)" per_cpu/cpu1/trace || exit 5
grep -x "dead: 1" bts_stats || exit 6
grep -x "cpus_left_out: 1" bts_stats || exit 6
grep -x "cpus_left_out: none" per_cpu/cpu0/bts_stats || exit 6
grep -c -e "->" per_cpu/cpu0/trace || exit 7
! grep -v "^#" per_cpu/cpu1/trace | grep -e "->" || exit 8
