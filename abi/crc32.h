/* The checksum of records, CRC-32 (IEEE 802.3), for the programs in C that write them: the probe and the lab kernel. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define CRC32_START ~0u /* crc32_add begins with it; the checksum is the complement of its last result */

static inline void crc32_prepare(uint32_t table[256])
{
	for (uint32_t byte = 0; byte < 256; byte++) {
		uint32_t crc = byte;
		for (int bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
		table[byte] = crc;
	}
}

static inline uint32_t crc32_add(const uint32_t table[256], uint32_t crc, const void *bytes, size_t count)
{
	const uint8_t *byte = bytes;

	while (count--)
		crc = crc >> 8 ^ table[(crc ^ *byte++) & 0xff];
	return crc;
}
