# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2034
#
# The machine, defined once: for machine/vm/run, for the machines of the tests, and for
# machine/baremetal/run, which reads the lines NAME=VALUE.

# q35, because the i440fx reports its interrupt routing by an AML loop that takes longer than
# the whole boot, and under KASAN longer than ACPI waits. 7.1's is like 7.2's, without the
# random seed that 7.2's puts where a large kernel unpacks itself over it.
machine_type=pc-q35-7.1
# 7.2's multi-threaded TCG sometimes executes a stale int3 when ftrace patches code.
machine_accel=tcg,thread=single
machine_cpu=SandyBridge,+ds,+dtes64,+ds-cpl,pmu=on
# perf acknowledges its interrupt late on this one. QEMU 7.2 takes a far return in user mode
# for a read of the kernel's, which SMAP forbids.
machine_skylake=Skylake-Client,-smap,+ds,+dtes64,+ds-cpl,pmu=on
machine_firmware="-L /usr/share/seabios -L /usr/share/qemu"
# nmi_watchdog=0: it would take a counter and send PMIs of its own; tests that want it say
# nmi_watchdog=1. watchdog_thresh: a busy host is no soft lockup of the guest.
machine_cmdline="console=ttyS0 loglevel=5 panic=-1 oops=panic nmi_watchdog=0 tsc=reliable"
machine_cmdline="$machine_cmdline watchdog_thresh=30 no_timer_check"
# Linux uses PEBS on this model only with this stepping and newer microcode.
machine_pebs=$machine_cpu,x-pebs=on,stepping=7,ucode-rev=0x2900000000
# What a good guest does not write on its console, as an extended regular expression.
machine_trouble='BUG:|WARNING:|Oops|INFO: (task|rcu|trying to register)|general protection fault'
machine_trouble="$machine_trouble|Call Trace:|kernel BUG at|LOCKUP|soft lockup|Kernel panic|recursion"
machine_trouble="$machine_trouble|(KASAN|UBSAN|KCSAN|ODEBUG|kmemleak):|unchecked MSR access"
machine_trouble="$machine_trouble|suspicious RCU|Debug Store: (no memory|bad management area)"

# machine_options NAME: the machines that cases run in, as machine/vm/run's options. Their
# time counts instructions: with the host's time, a busy host means more ticks for each
# instruction, so more branches and fuller buffers.
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
	# CPUs without ticks, and what makes a kernel of checkers bearable: config/debug.config.
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
