/* UEFI's tables and protocols, as far as the kernel uses them (UEFI Specification 2.10, 4, 7, 9.1, 13). */
#pragma once

#include <stdint.h>

#define EFI __attribute__((ms_abi))

typedef uint64_t efi_status; /* 0: success */
typedef void *efi_handle;

#define EFI_HEADER	   24 /* bytes of a table's header */
#define EFI_ALLOCATE_BELOW 1  /* AllocateMaxAddress */
#define EFI_LOADER_DATA	   2

struct efi_guid {
	uint32_t first;
	uint16_t second, third;
	uint8_t rest[8];
};

struct efi_services {
	uint8_t header[EFI_HEADER];
	void *raise_tpl, *restore_tpl;
	EFI efi_status (*allocate_pages)(uint32_t how, uint32_t type, uint64_t pages, uint64_t *address);
	void *free_pages, *get_memory_map, *allocate_pool, *free_pool;
	void *create_event, *set_timer, *wait_for_event, *signal_event, *close_event, *check_event;
	void *install_protocol, *reinstall_protocol, *uninstall_protocol;
	EFI efi_status (*handle_protocol)(efi_handle handle, const struct efi_guid *protocol,
					  void **interface);
};

struct efi_output {
	void *reset;
	EFI efi_status (*write)(struct efi_output *output, const uint16_t *text);
};

struct efi_system {
	uint8_t header[EFI_HEADER];
	void *vendor;
	uint64_t revision;
	void *input_handle, *input, *output_handle;
	struct efi_output *output;
	void *error_handle, *error, *runtime;
	struct efi_services *services;
};

struct efi_loaded_image {
	uint64_t revision;
	void *parent, *system;
	efi_handle device;
};

#define EFI_FILE_READ	1ul
#define EFI_FILE_WRITE	2ul
#define EFI_FILE_CREATE (1ul << 63)

struct efi_file {
	uint64_t revision;
	EFI efi_status (*open)(struct efi_file *folder, struct efi_file **file, const uint16_t *name,
			       uint64_t mode, uint64_t attributes);
	EFI efi_status (*close)(struct efi_file *file);
	EFI efi_status (*remove)(struct efi_file *file);
	void *read;
	EFI efi_status (*write)(struct efi_file *file, uint64_t *bytes, const void *from);
};

struct efi_file_system {
	uint64_t revision;
	EFI efi_status (*open_volume)(struct efi_file_system *system, struct efi_file **root);
};

/* What multiboot2's tags told: null without UEFI. */
struct efi {
	struct efi_system *system;
	struct efi_services *services;
	efi_handle image; /* the boot loader's */
};
extern struct efi efi;
