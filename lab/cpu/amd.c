/*
 * What AMD's processors say of speculation (APM vol. 3, CPUID Fn8000_0008_EBX, Fn8000_0021_EAX). Nothing here touches hardware, so that a
 * test compiles it for the host: no emulator has most of these bits.
 */
#include "cpu/cpu.h"

#define EXT8_EBX_IBPB		(1u << 12)
#define EXT8_EBX_IBRS		(1u << 14)
#define EXT8_EBX_STIBP		(1u << 15)
#define EXT8_EBX_IBRS_ALWAYS	(1u << 16) /* the processor prefers that it is set once, and stays on */
#define EXT8_EBX_IBRS_PREFERRED (1u << 18) /* to remedies in software */
#define EXT8_EBX_IBRS_SAME	(1u << 19) /* it holds within a mode, too */
#define EXT8_EBX_SSBD		(1u << 24)
#define EXT21_EAX_VERW_CLEAR	(1u << 5)
#define EXT21_EAX_AUTOMATIC	(1u << 8) /* automatic IBRS */

static uint32_t feature(unsigned feature, uint32_t is_there)
{
	return (uint32_t)(is_there != 0) << feature;
}

/* Processors whose loads are kept back by LS_CFG or VIRT_SPEC_CTRL alone count as without SSBD. */
struct amd_speculation amd_speculation(uint32_t ebx, uint32_t eax)
{
	const uint32_t has_ibrs = ebx & EXT8_EBX_IBRS;

	return (struct amd_speculation){
	    .has_automatic_ibrs = (eax & EXT21_EAX_AUTOMATIC) != 0,
	    .announces_ibpb = (ebx & EXT8_EBX_IBPB) != 0,
	    .features = feature(FEATURE_IBRS, has_ibrs) |
			feature(FEATURE_EIBRS,
				eax & EXT21_EAX_AUTOMATIC || (has_ibrs && ebx & EXT8_EBX_IBRS_ALWAYS)) |
			feature(FEATURE_IBRSALWAYS, has_ibrs ? ebx & EXT8_EBX_IBRS_ALWAYS : 0) |
			feature(FEATURE_IBRSPREFERRED, has_ibrs ? ebx & EXT8_EBX_IBRS_PREFERRED : 0) |
			feature(FEATURE_IBRSSAMEMODE, has_ibrs ? ebx & EXT8_EBX_IBRS_SAME : 0) |
			feature(FEATURE_STIBP, ebx & EXT8_EBX_STIBP) |
			feature(FEATURE_SSBD, ebx & EXT8_EBX_SSBD) |
			feature(FEATURE_MDCLEAR, eax & EXT21_EAX_VERW_CLEAR),
	};
}
