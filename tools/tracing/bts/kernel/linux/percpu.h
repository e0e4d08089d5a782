/* SPDX-License-Identifier: GPL-2.0 */
/* The header bts/pack.h includes this file. In user space, pack.h uses nothing from this file. */
