# SPDX-License-Identifier: GPL-2.0
#
# Thin: each target is a script in machine/, which says how it works.
#
#	make demo	packages, sources, emulator, kernel; then a branch trace to look at
#	make test	the tests, some minutes; test-full: the slow ones as well, and then all
#			on the newest kernel; test-debug: under KASAN, lockdep and the like
#	make mutants	break one line after the other: the tests must notice
#	make shell	a shell in the machine;  make run CMD='...'  one command
#	make bench	what the patches cost, and the tracer those who are not traced,
#			and what a stored branch costs the emulator
#	make check	checkpatch, sparse, W=1, kernel-doc, shellcheck, codespell
#	make series	the kernel patches as git format-patch has them, in build/series
#	make deb	a patched kernel as Debian packages, for real hardware; CONFIG=FILE says
#			which configuration it starts from
#	make tool	the user tool, build/tool/bts; make tool-install PREFIX=DIR
#	make deps	just the Debian packages that building and testing need
#
# BASE=mainline: the newest kernel of Debian's backports in place of 6.12, in build/mainline.
# KSRC=DIR, QEMU_SRC=DIR: source trees of yours (copied, never changed) in place of Debian's.

export BASE KSRC QEMU_SRC JOBS CONFIG PREFIX DESTDIR
ifeq ($(BASE),mainline)
export BTS_BUILD ?= $(CURDIR)/build/mainline
endif

MACHINE := $(CURDIR)/machine

.PHONY: all demo test test-full test-debug mutants bench check shell run series deb deps clean \
	tool tool-install
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
	@$(MACHINE)/tree/deps test full
	@$(MACHINE)/tests/run --full
	@BASE=mainline $(MACHINE)/tree/build
	@BASE=mainline $(MACHINE)/tests/run --full

mutants: all
	@$(MACHINE)/tree/deps test
	@$(MACHINE)/tests/mutate

bench: all
	@$(MACHINE)/bench/branch
	@$(MACHINE)/bench/pack
	@$(MACHINE)/bench/switch
	@$(MACHINE)/bench/drain
	@$(MACHINE)/bench/store
	@$(MACHINE)/bench/tool
	@$(MACHINE)/bench/patches

check:
	@$(MACHINE)/tree/deps build check
	@$(MACHINE)/tree/check

shell: all
	@$(MACHINE)/vm/run --tty -- "$${SHELL:-/bin/bash}"

run: all
	@$(MACHINE)/vm/run -- sh -c '$(subst ','\'',$(CMD))'

series:
	@$(MACHINE)/tree/deps build deb
	@$(MACHINE)/tree/series

deb:
	@$(MACHINE)/tree/deps build deb
	@$(MACHINE)/tree/deb

tool:
	@$(MACHINE)/tree/deps build tool
	@$(MACHINE)/tree/build tool

# PREFIX is /usr/local; DESTDIR stands before it.
tool-install:
	@$(MACHINE)/tree/tool-install

deps:
	@$(MACHINE)/tree/deps build run test tool

# Keeps the downloads and the compiler's cache, which are in ~/.cache/bts.
clean:
	rm -rf build
