#!/bin/sh
# SPDX-License-Identifier: GPL-2.0

exec bts check --probe
