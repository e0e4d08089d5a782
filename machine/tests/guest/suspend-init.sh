#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0
#
# This script is /init in the guest of machine/tests/parts/suspend. The script prints KTAP on the
# second serial line. Then the script reboots the guest, which makes the emulator exit.

# Mount /proc first, because the shell starts its applets through /proc/self/exe.
busybox mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
mount -t tracefs none /sys/kernel/tracing
BTS_PROGS=/bin BTS_ACCOUNT=/account.awk busybox sh /life.sh suspend > /dev/ttyS1
reboot -f
