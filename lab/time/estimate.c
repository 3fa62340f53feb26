/* Which of several frequencies is true. */
#include "time/estimate.h"
#include "lab.h"

/* Nominal frequencies of CPUID are rounded to some MHz. */
#define TOLERANCE 100 /* a hundredth */

/* What all shots leave that hold at one frequency, and how many do. */
static unsigned hold_at(const struct bounds *shots, unsigned count, uint64_t hertz, struct bounds *left)
{
	unsigned holding = 0;

	*left = (struct bounds){0, UINT64_MAX};
	for (unsigned i = 0; i < count; i++) {
		if (hertz < shots[i].low || hertz > shots[i].high)
			continue;
		left->low = shots[i].low > left->low ? shots[i].low : left->low;
		left->high = shots[i].high < left->high ? shots[i].high : left->high;
		holding++;
	}
	return holding;
}

/* Marzullo's algorithm: where most intervals overlap, one of them begins. */
struct bounds estimate_agreed(const struct bounds *shots, unsigned count)
{
	struct bounds agreed = {0, 0};
	unsigned most = count / 2;

	for (unsigned i = 0; i < count; i++) {
		struct bounds left;
		const unsigned holding = hold_at(shots, count, shots[i].low, &left);

		if (holding > most) {
			most = holding;
			agreed = left;
		}
	}
	return agreed;
}

static uint64_t middle(struct bounds bounds)
{
	return bounds.low + (bounds.high - bounds.low) / 2;
}

static int contradicts(struct bounds bounds, uint64_t hertz)
{
	return bounds.low > hertz + hertz / TOLERANCE || bounds.high < hertz - hertz / TOLERANCE;
}

/* A measured frequency is worth more than one of a table, and that more than a rounded one. */
static const uint32_t trusted[] = {TSC_FROM_PLAN, TSC_FROM_HYPERVISOR, TSC_FROM_CRYSTAL, TSC_FROM_PM_TIMER,
				   TSC_FROM_PIT,  TSC_FROM_MODEL,      TSC_FROM_BASE};

static struct bounds told_by(uint32_t source, const struct answer *answers, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (answers[i].source == source)
			return answers[i].hertz;
	return exactly(0);
}

struct tsc estimate_choose(const struct answer *answers, unsigned count)
{
	struct tsc tsc = {0};

	for (unsigned i = 0; i < sizeof(trusted) / sizeof(trusted[0]); i++) {
		const struct bounds hertz = told_by(trusted[i], answers, count);

		if (!hertz.high)
			continue;
		if (!tsc.hertz) {
			tsc.hertz = middle(hertz);
			tsc.source = trusted[i];
		} else if (!tsc.other_hertz && contradicts(hertz, tsc.hertz)) {
			tsc.other_hertz = middle(hertz);
			tsc.other = trusted[i];
		}
	}
	return tsc;
}

#define LEAF_TIMING	      0x40000010
#define INTERFACE_HYPERV      0x31237648 /* "Hv#1" */
#define PRIVILEGE_FREQUENCIES (1u << 11) /* AccessFrequencyRegs */

static int is_named(const struct hypervisor *who, const char *name)
{
	return !__builtin_memcmp(who->name, name, sizeof(who->name));
}

/*
 * Leaf 40000010h is VMware's timing leaf; KVM and ACRN have it, too, where they have that many leaves. Others may have another thing
 * there. Hyper-V has a register instead, and so has whoever offers its interface (Hypervisor Top Level Functional Specification,
 * 2.4.4 and 12.5.1).
 */
enum told estimate_told(const struct hypervisor *who)
{
	if (who->interface == INTERFACE_HYPERV && who->privileges & PRIVILEGE_FREQUENCIES)
		return TOLD_BY_REGISTER;
	if (who->last < LEAF_TIMING)
		return TOLD_NOWHERE;
	return is_named(who, "VMwareVMware") || is_named(who, "KVMKVMKVM\0\0\0") ||
		       is_named(who, "ACRNACRNACRN")
		   ? TOLD_BY_LEAF
		   : TOLD_NOWHERE;
}

/*
 * SDM vol. 3, 20.7.3, by family 6 model. Not 0x55 (Skylake-X, Cascade Lake): its workstations have a crystal of 24 MHz, and
 * servers one of 25 MHz whose frequency is spread and so a quarter of a percent lower. Linux dropped it for that reason ("Fix
 * erroneous TSC rate on Skylake Xeon", 2017).
 */
uint64_t estimate_crystal(uint32_t signature)
{
	if ((signature >> 8 & 0xf) != 6)
		return 0;
	switch ((signature >> 4 & 0xf) | (signature >> 12 & 0xf0)) {
	case 0x4e: /* sixth and seventh generation */
	case 0x5e:
	case 0x8e:
	case 0x9e:
		return 24000000;
	case 0x5f: /* Denverton */
		return 25000000;
	case 0x5c: /* Goldmont */
		return 19200000;
	default:
		return 0;
	}
}
