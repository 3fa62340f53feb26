/* A file on the volume that the machine was booted from, by the firmware's own file system. */
#include "boot/efi.h"
#include "boot/efi_services.h"

/* UEFI Specification 2.10, 9.1, 13.4. */
static const struct efi_guid loaded_image = {
    0x5b1b31a1, 0x9562, 0x11d2, {0x8e, 0x3f, 0x00, 0xa0, 0xc9, 0x69, 0x72, 0x3b}};
static const struct efi_guid file_system = {
    0x964e5b22, 0x6459, 0x11d2, {0x8e, 0x39, 0x00, 0xa0, 0xc9, 0x69, 0x72, 0x3b}};

#define NAME	   "KENTRY00.TXT"
#define NAME_TENS  6
#define NAME_ONES  7
#define MOST_FILES 100

static const char *open_root(struct efi_file **root)
{
	struct efi_loaded_image *image;
	struct efi_file_system *system;

	if (!efi.image || efi.services->handle_protocol(efi.image, &loaded_image, (void **)&image))
		return "the firmware does not say what it booted from";
	if (efi.services->handle_protocol(image->device, &file_system, (void **)&system))
		return "the firmware has no file system for what it booted from";
	if (system->open_volume(system, root))
		return "the firmware cannot open the file system that it booted from";
	return 0;
}

static efi_status open_file(struct efi_file *root, const char *name, uint64_t mode, struct efi_file **file)
{
	uint16_t wide[EFI_NAME_LENGTH + 1];

	for (unsigned i = 0; i <= EFI_NAME_LENGTH; i++)
		wide[i] = (uint8_t)name[i];
	return root->open(root, file, wide, mode, 0);
}

/* The stick may have been in other machines before: what is there stays. */
static int find_free(struct efi_file *root, char *name)
{
	for (unsigned number = 1; number < MOST_FILES; number++) {
		struct efi_file *file;

		name[NAME_TENS] = (char)('0' + number / 10);
		name[NAME_ONES] = (char)('0' + number % 10);
		if (open_file(root, name, EFI_FILE_READ, &file))
			return 1;
		file->close(file);
	}
	return 0;
}

static const char *write_new(struct efi_file *root, const char *name, const char *text, uint64_t bytes)
{
	struct efi_file *file;
	uint64_t written = bytes;

	if (open_file(root, name, EFI_FILE_CREATE | EFI_FILE_READ | EFI_FILE_WRITE, &file))
		return "no file can be made on what the machine was booted from";
	const efi_status status = file->write(file, &written, text);
	if (status || written != bytes) {
		file->remove(file);
		return "there is no room, or the medium refuses it";
	}
	/* Close writes what the file system still holds. */
	return file->close(file) ? "the file could not be closed" : 0;
}

const char *efi_write_file(const char *text, uint64_t bytes, char name[EFI_NAME_LENGTH + 1])
{
	struct efi_file *root;
	const char *trouble = open_root(&root);

	if (trouble)
		return trouble;
	__builtin_memcpy(name, NAME, sizeof(NAME));
	trouble = find_free(root, name) ? write_new(root, name, text, bytes)
					: "99 files of former runs are there already";
	root->close(root);
	return trouble;
}
