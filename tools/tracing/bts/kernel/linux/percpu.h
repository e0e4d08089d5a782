/* SPDX-License-Identifier: GPL-2.0 */
/* The header bts/pack.h includes percpu.h, but needs nothing from percpu.h on a host. */
