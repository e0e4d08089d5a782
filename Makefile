# SPDX-License-Identifier: GPL-2.0
#
# Each target calls a script in machine/. See the comment at the top of that script.
#
#	make demo	build everything, then trace a small program and show the trace
#	make test	run the tests, which takes some minutes; make test-full: add the slow
#			tests, and repeat all tests on the newest kernel; make test-debug: run the
#			test cases under KASAN, lockdep and the like
#	make mutants	introduce bugs, one at a time, and check that a test catches each bug
#	make shell	open a shell in the machine;  make run CMD='...'  run one command there
#	make bench	measure the costs of branches, packs, task switches, interrupts, the
#			patches to the emulator, and the tool
#	make fuzz	run AFL++ on each kind of file that the tool reads; FUZZ_SECONDS=600
#			sets the time for each kind
#	make check	run checkpatch, sparse, W=1, kernel-doc, shellcheck, codespell
#	make series	write the kernel patches to build/series, for git am
#	make deb	build a patched kernel as Debian packages, for real hardware, from the
#			running kernel's configuration or from CONFIG=FILE
#	make deb-tool	build Debian packages of the user tool and of the emulated machine
#	make tool	build the user tool as build/tool/bts; make tool-install PREFIX=DIR
#			installs the tool
#	make deps	install the Debian packages for building and testing
#
# With BASE=mainline, make builds the newest kernel from Debian's backports, in build/mainline. With
# KSRC=DIR or QEMU_SRC=DIR, make builds a copy of your source tree, not Debian's source.

export BASE KSRC QEMU_SRC JOBS CONFIG PREFIX DESTDIR TOOL_NAME
ifeq ($(BASE),mainline)
export BTS_BUILD ?= $(CURDIR)/build/mainline
endif

MACHINE := $(CURDIR)/machine

.PHONY: all demo test test-full test-debug mutants bench fuzz check shell run series deb deps clean \
	deb-tool tool tool-install
.NOTPARALLEL:

all:
	@$(MACHINE)/tree/deps build run tool
	@$(MACHINE)/tree/build

demo: all
	@$(MACHINE)/demo/run

test: all
	@$(MACHINE)/tree/deps test
	@$(MACHINE)/tests/run

test-debug: all
	@$(MACHINE)/tree/deps test
	@$(MACHINE)/tree/build kernel-debug
	@$(MACHINE)/tests/run --debug

test-full: all
	@$(MACHINE)/tree/deps test full deb-tool
	@$(MACHINE)/tests/run --full
	@BASE=mainline $(MACHINE)/tree/build
	@BASE=mainline $(MACHINE)/tests/run --full

mutants: all
	@$(MACHINE)/tree/deps test
	@$(MACHINE)/tests/mutate

bench: all
	@$(MACHINE)/tree/deps test
	@$(MACHINE)/bench/branch
	@$(MACHINE)/bench/pack
	@$(MACHINE)/bench/switch
	@$(MACHINE)/bench/drain
	@$(MACHINE)/bench/store
	@$(MACHINE)/bench/tool
	@$(MACHINE)/bench/patches

FUZZ_SECONDS ?= 600
BUILT := $(or $(BTS_BUILD),$(CURDIR)/build)
fuzz:
	@$(MACHINE)/tree/deps build tool fuzz
	@$(MACHINE)/tree/build tool
	@$(BUILT)/linux/tools/tracing/bts/tests/fuzz/fuzz.sh $(BUILT)/fuzz $(FUZZ_SECONDS)

check:
	@$(MACHINE)/tree/deps build check
	@$(MACHINE)/tree/check

shell: all
	@$(MACHINE)/vm/run --tty -- "$${SHELL:-/bin/bash}"

run: all
	@$(MACHINE)/vm/run -- sh -c '$(subst ','\'',$(value CMD))'

series:
	@$(MACHINE)/tree/deps build deb
	@$(MACHINE)/tree/series

deb:
	@$(MACHINE)/tree/deps build deb
	@$(MACHINE)/tree/deb

deb-tool: all
	@$(MACHINE)/tree/deps deb-tool
	@$(MACHINE)/tree/deb-tool

tool:
	@$(MACHINE)/tree/deps build tool
	@$(MACHINE)/tree/build tool

# PREFIX is /usr/local by default. DESTDIR is put before PREFIX. TOOL_NAME renames the command bts.
tool-install:
	@$(MACHINE)/tree/tool-install

deps:
	@$(MACHINE)/tree/deps build run test tool

# Keep the downloads and the compiler's cache, which are in ~/.cache/bts.
clean:
	rm -rf build
