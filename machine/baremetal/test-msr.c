// SPDX-License-Identifier: GPL-2.0
/* Tests of the CPUID bits of the Debug Store, and of the values that its MSRs accept. */
#include "bare.h"

TEST(discovery_cpuid, "CPUID shows ds, dtes64 and ds_cpl if and only if they are enabled")
{
	u32 a, b, c, d;

	cpuid(1, &a, &b, &c, &d);
	CHECK((d >> 21 & 1) == have_ds, "CPUID.1:EDX is %x", d);
	CHECK((c >> 2 & 1) == have_ds, "CPUID.1:ECX is %x", c);
	CHECK((c >> 4 & 1) == have_ds_cpl, "CPUID.1:ECX is %x", c);
	return NULL;
}

TEST(discovery_misc_enable, "IA32_MISC_ENABLE shows BTS and not PEBS")
{
	u64 misc = rdmsr(IA32_MISC_ENABLE);

	if (option("amd")) {
		CHECK(!(misc & (MISC_BTS_UNAVAIL | MISC_PEBS_UNAVAIL)), "%lx", misc);
		return NULL;
	}
	CHECK(!(misc & MISC_BTS_UNAVAIL) == have_ds, "%lx", misc);
	CHECK(misc & MISC_PEBS_UNAVAIL, "%lx", misc);
	return NULL;
}

TEST(misc_enable_read_only, "the UNAVAIL bits cannot be changed")
{
	u64 misc = rdmsr(IA32_MISC_ENABLE);

	if (!have_ds)
		return NO_DS;
	wrmsr_safe(IA32_MISC_ENABLE, misc ^ MISC_BTS_UNAVAIL ^ MISC_PEBS_UNAVAIL);
	CHECK(rdmsr(IA32_MISC_ENABLE) == misc, "%lx became %lx", misc,
	      rdmsr(IA32_MISC_ENABLE));
	return NULL;
}

TEST(at_boot, "IA32_DEBUGCTL and IA32_DS_AREA are 0 at boot")
{
	if (!have_ds)
		return NO_DS;
	CHECK(!rdmsr(IA32_DEBUGCTL), "%lx", rdmsr(IA32_DEBUGCTL));
	CHECK(!rdmsr(IA32_DS_AREA), "%lx", rdmsr(IA32_DS_AREA));
	return NULL;
}

TEST(without_ds, "without a Debug Store, BTS cannot be switched on")
{
	u64 value = 0;

	if (have_ds)
		return "there is a Debug Store";
	wrmsr_safe(IA32_DEBUGCTL, TR_BTS);
	rdmsr_safe(IA32_DEBUGCTL, &value);
	CHECK(!(value & TR_BTS), "DEBUGCTL is %lx", value);
	return NULL;
}

TEST(debugctl_bits, "each bit of IA32_DEBUGCTL can be set and read back")
{
	static const u32 bits[] = {
		DEBUGCTL_LBR, DEBUGCTL_BTF, DEBUGCTL_TR, DEBUGCTL_BTS, DEBUGCTL_BTINT,
		DEBUGCTL_BTS_OFF_OS, DEBUGCTL_BTS_OFF_USR,
	};
	u32 i;

	if (!have_ds)
		return NO_DS;
	for (i = 0; i < ARRAY_SIZE(bits); i++) {
		if (bits[i] >= DEBUGCTL_BTS_OFF_OS && !have_ds_cpl)
			continue;
		CHECK(!wrmsr_safe(IA32_DEBUGCTL, bits[i]), "bit %x", bits[i]);
		CHECK(rdmsr(IA32_DEBUGCTL) == bits[i], "%x became %lx", bits[i],
		      rdmsr(IA32_DEBUGCTL));
	}
	return NULL;
}

TEST(debugctl_rmw, "switching BTS on and off leaves LBR and BTF alone")
{
	u64 others = DEBUGCTL_LBR | DEBUGCTL_BTF;

	if (!have_ds)
		return NO_DS;
	ds_default();
	wrmsr(IA32_DEBUGCTL, others);
	wrmsr(IA32_DEBUGCTL, rdmsr(IA32_DEBUGCTL) | TR_BTS | DEBUGCTL_BTINT);
	CHECK(rdmsr(IA32_DEBUGCTL) == (others | TR_BTS | DEBUGCTL_BTINT), "%lx",
	      rdmsr(IA32_DEBUGCTL));
	wrmsr(IA32_DEBUGCTL, rdmsr(IA32_DEBUGCTL) & ~(u64)(TR_BTS | DEBUGCTL_BTINT));
	CHECK(rdmsr(IA32_DEBUGCTL) == others, "%lx", rdmsr(IA32_DEBUGCTL));
	return NULL;
}

TEST(debugctl_reserved, "reserved bits of IA32_DEBUGCTL raise #GP")
{
	static const u32 bits[] = { 3, 4, 5, 16, 20, 31, 32, 63 };
	u32 i;

	if (!have_ds)
		return NO_DS;
	wrmsr(IA32_DEBUGCTL, DEBUGCTL_LBR);
	for (i = 0; i < ARRAY_SIZE(bits); i++) {
		CHECK(wrmsr_safe(IA32_DEBUGCTL, 1UL << bits[i]), "bit %u", bits[i]);
		CHECK(rdmsr(IA32_DEBUGCTL) == DEBUGCTL_LBR, "bit %u left %lx", bits[i],
		      rdmsr(IA32_DEBUGCTL));
	}
	return NULL;
}

TEST(debugctl_no_ds_cpl, "without ds_cpl the CPL filters are reserved bits")
{
	if (!have_ds)
		return NO_DS;
	if (have_ds_cpl)
		return "there is ds_cpl";
	CHECK(wrmsr_safe(IA32_DEBUGCTL, DEBUGCTL_BTS_OFF_OS), "accepted");
	CHECK(wrmsr_safe(IA32_DEBUGCTL, DEBUGCTL_BTS_OFF_USR), "accepted");
	CHECK(!rdmsr(IA32_DEBUGCTL), "%lx", rdmsr(IA32_DEBUGCTL));
	return NULL;
}

TEST(ds_area, "IA32_DS_AREA accepts only canonical addresses")
{
	static const u64 good[] = { 0x1000, 0x7ffffffff000, 0xffff800000000000, 0 };
	static const u64 bad[] = { 0x800000000000, 0xffff7ffffffff000, 1UL << 63 };
	u32 i;

	if (!have_ds)
		return NO_DS;
	for (i = 0; i < ARRAY_SIZE(good); i++) {
		CHECK(!wrmsr_safe(IA32_DS_AREA, good[i]), "%lx", good[i]);
		CHECK(rdmsr(IA32_DS_AREA) == good[i], "%lx", rdmsr(IA32_DS_AREA));
	}
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		CHECK(wrmsr_safe(IA32_DS_AREA, bad[i]), "%lx", bad[i]);
		CHECK(!rdmsr(IA32_DS_AREA), "%lx", rdmsr(IA32_DS_AREA));
	}
	return NULL;
}
