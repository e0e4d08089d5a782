#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0
#
# /init of machine/tests/parts/suspend's machine: KTAP on the second serial line, then a
# reboot, which ends it.

# The shell finds its applets by /proc.
busybox mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
mount -t tracefs none /sys/kernel/tracing
BTS_PROGS=/bin busybox sh /life.sh suspend > /dev/ttyS1
reboot -f
