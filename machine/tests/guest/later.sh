#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# guest/later.sh: CPU 1 comes online while branches are traced, and its hardware stores none.
# The exit status says which step has failed.

cd /sys/kernel/tracing || exit
echo bts > current_tracer || exit 2
echo 1 > /sys/devices/system/cpu/cpu1/online || exit 3
echo 0 > tracing_on
dmesg | grep "CPU 1: BTS does not work, its branches are not recorded" || exit 4
grep "LOST branches (BTS does not work)" per_cpu/cpu1/trace || exit 5
grep "^dead: 1" bts_stats || exit 6
grep -c -e "->" per_cpu/cpu0/trace || exit 7
! grep -v "^#" per_cpu/cpu1/trace | grep -e "->" || exit 8
