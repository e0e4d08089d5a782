# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2034
#
# Define the machine for machine/vm/run, for the tests and for machine/baremetal/run.
# machine/baremetal/run does not source this file, but parses its NAME=VALUE lines.

# Do not use an i440fx, because its AML computes the interrupt routing in a loop that takes longer
# than the rest of the boot, and under KASAN exceeds ACPI's timeout. Do not use q35-7.2, which
# writes a random seed to memory that a large kernel overwrites when decompressing itself.
machine_type=pc-q35-7.1
# Use one thread, because QEMU 7.2's multi-threaded TCG may execute a stale int3 when ftrace patches
# code.
machine_accel=tcg,thread=single
machine_cpu=SandyBridge,+ds,+dtes64,+ds-cpl,pmu=on
# The same CPU properties without the model's name, for tests that choose another model.
machine_ds=${machine_cpu#*,}
# With a Skylake, the tests cover perf's late acknowledgement of PMIs. SMAP is off, because QEMU 7.2
# treats the stack reads of a far return in user mode as kernel accesses, which SMAP forbids.
machine_skylake=Skylake-Client,-smap,+ds,+dtes64,+ds-cpl,pmu=on
machine_firmware="-L /usr/share/seabios -L /usr/share/qemu"
# Set nmi_watchdog=0, because the watchdog would use a counter and raise PMIs. Tests of the watchdog
# append nmi_watchdog=1. Set watchdog_thresh=30, because the guest could otherwise report a soft
# lockup when the host is busy.
machine_cmdline="console=ttyS0 loglevel=5 panic=-1 oops=panic nmi_watchdog=0 tsc=reliable"
machine_cmdline="$machine_cmdline watchdog_thresh=30 no_timer_check"
# On SandyBridge, Linux uses PEBS only with stepping 7 and recent microcode.
machine_pebs=$machine_cpu,x-pebs=on,stepping=7,ucode-rev=0x2900000000
# An extended regular expression that matches console lines about kernel errors.
machine_trouble='BUG:|WARNING:|Oops|INFO: (task|rcu|trying to register)|general protection fault'
machine_trouble="$machine_trouble|Call Trace:|kernel BUG at|LOCKUP|soft lockup|Kernel panic|recursion"
machine_trouble="$machine_trouble|(KASAN|UBSAN|KCSAN|ODEBUG|kmemleak):|unchecked MSR access"
machine_trouble="$machine_trouble|suspicious RCU|Debug Store: (no memory|bad management area)"

# machine_options NAME: print the options of machine/vm/run for a machine that runs test cases. The
# options include --icount. Without --icount, a busy host would cause more ticks for the same number
# of instructions, and therefore more branches and fuller buffers.
machine_options() {
	case $1 in
	kpti_smp1) set -- '--smp 1' ;;
	kpti_smp2) set -- '--smp 2' ;;
	kpti_smp4) set -- '--smp 4' ;;
	nopti_smp2) set -- '--smp 2 --append pti=off' ;;
	cpl_after) set -- "--smp 2 --cpu $machine_cpu,x-bts-cpl-after=on" ;;
	no_ds_cpl) set -- "--smp 2 --cpu $machine_cpu,-ds-cpl" ;;
	skylake) set -- "--smp 2 --cpu $machine_skylake" ;;
	skylake_nopti) set -- "--smp 2 --cpu $machine_skylake --append pti=off" ;;
	pebs) set -- "--smp 2 --cpu $machine_pebs" ;;
	# Avoid ticks: in a debug kernel, tracing a tick takes too long (tree/config/debug.config).
	debug)
		set -- '--smp 3 --mem 3072 --append nohz_full=1,2 --append tsc=reliable'
		set -- "$1 --append kmemleak=off --append no_debug_objects"
		;;
	*)
		printf 'no such machine: %s\n' "$1" >&2
		return 1
		;;
	esac
	printf '%s' "--icount $1"
}
