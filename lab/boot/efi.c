/* Takes memory from the firmware before the kernel runs, and returns to the firmware when it is done. */
#include "boot/efi.h"
#include "boot/efi_services.h"
#include "cpu/cpu.h"
#include "entry/entry.h"
#include "mm/mm.h"
#include "serial/serial.h"

/* The lab needs a few MiB; a part of the machine's memory is enough, and firmware needs the rest. */
#define MOST_MEMORY	 (256ul << 20)
#define LEAST_MEMORY	 (16ul << 20)
#define EFI_MEMORY_LIMIT 0xc0000000ul
#define KERNEL_START	 0x100000ul /* kernel.lds */

#define DESCRIPTOR  8
#define FIRST_UPPER 256 /* of a top table's entries */
#define ENTRIES	    512

struct __attribute__((packed)) table_register {
	uint16_t limit;
	uint64_t base;
};

struct efi_cpu {
	uint64_t rsp, cr0, cr4, cs, ss, rflags, xcr0, dr7, efer;
	struct table_register gdt __attribute__((aligned(16))), idt __attribute__((aligned(16)));
};
_Static_assert(offsetof(struct efi_cpu, rsp) == EFI_RSP, "efi.S");
_Static_assert(offsetof(struct efi_cpu, cr0) == EFI_CR0, "efi.S");
_Static_assert(offsetof(struct efi_cpu, cr4) == EFI_CR4, "efi.S");
_Static_assert(offsetof(struct efi_cpu, cs) == EFI_CS, "efi.S");
_Static_assert(offsetof(struct efi_cpu, ss) == EFI_SS, "efi.S");
_Static_assert(offsetof(struct efi_cpu, rflags) == EFI_RFLAGS, "efi.S");
_Static_assert(offsetof(struct efi_cpu, gdt) == EFI_GDT, "efi.S");
_Static_assert(offsetof(struct efi_cpu, idt) == EFI_IDT, "efi.S");

struct efi_cpu efi_cpu;
struct efi efi;
extern uint64_t efi_top[ENTRIES];
extern const uint8_t kernel_end[];

_Noreturn void efi_resume(void (*then)(void), uint64_t top);
uint32_t efi_prepare(uint32_t information, uint64_t cr4);

/* What the kernel changes, and no exit restores. */
static const uint32_t kept_msrs[] = {
    MSR_SYSENTER_CS, MSR_SYSENTER_ESP, MSR_SYSENTER_EIP, MSR_STAR,    MSR_LSTAR,
    MSR_CSTAR,	     MSR_FMASK,	       MSR_FS_BASE,	 MSR_GS_BASE,
};
#define KEPT_MSRS (sizeof(kept_msrs) / sizeof(kept_msrs[0]))
static uint64_t kept_values[KEPT_MSRS];

static void save_cpu(void)
{
	__asm__ volatile("mov %%cr0, %0" : "=r"(efi_cpu.cr0));
	/* Shadow stacks do not survive the way back; firmware does without. */
	efi_cpu.cr4 = read_cr4() & ~(uint64_t)CR4_CET;
	__asm__ volatile("mov %%cs, %0" : "=r"(efi_cpu.cs));
	__asm__ volatile("mov %%ss, %0" : "=r"(efi_cpu.ss));
	__asm__ volatile("pushf; pop %0" : "=r"(efi_cpu.rflags));
	__asm__ volatile("sgdt %0" : "=m"(efi_cpu.gdt));
	__asm__ volatile("sidt %0" : "=m"(efi_cpu.idt));
	if (efi_cpu.cr4 & CR4_OSXSAVE) {
		uint32_t low, high;
		__asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
		efi_cpu.xcr0 = (uint64_t)high << 32 | low;
	}
	efi_cpu.efer = rdmsr(MSR_EFER);
	for (unsigned i = 0; i < KEPT_MSRS; i++)
		kept_values[i] = rdmsr(kept_msrs[i]);
	/* A breakpoint of the firmware's would be an exception of the kernel, or of a program. */
	__asm__ volatile("mov %%dr7, %0" : "=r"(efi_cpu.dr7));
	__asm__ volatile("mov %0, %%dr7" : : "r"((uint64_t)DR7_RESET));
}

/* Multiboot2's tags (3.6). The kernel gets those that GRUB has made, with the memory that is the kernel's own instead. */
struct tag {
	uint32_t type, bytes;
};
struct memory_tag {
	struct tag tag;
	uint32_t entry_bytes, version;
	struct {
		uint64_t address, bytes;
		uint32_t type, reserved;
	} entries[2];
};
struct module_tag {
	struct tag tag;
	uint32_t start, end;
};
#define TAG_END		0
#define TAG_MODULE	3
#define TAG_MEMORY_SIZE 4
#define TAG_MEMORY	6
#define TAG_SYSTEM	12 /* the system table, 64 bits */
#define TAG_MEMORY_EFI	17
#define TAG_IMAGE	20 /* GRUB's handle, 64 bits */
#define MEMORY_USABLE	1
#define INFORMATION	(32u << 10)

static struct {
	uint32_t bytes, reserved;
	uint8_t tags[INFORMATION];
} __attribute__((aligned(8))) made = {.bytes = 8};

/* The kernel's own ways to say something do not exist yet, but for the serial port. */
static _Noreturn void give_up(const char *why)
{
	uint16_t letter[2] = {0};

	if (!efi.system) {
		uart_init();
		uart_write(why, __builtin_strlen(why));
	}
	while (efi.system && (letter[0] = (uint8_t)*why++))
		efi.system->output->write(efi.system->output, letter);
	for (;;)
		__asm__ volatile("hlt");
}

/* Firmware maps all memory at its physical addresses. */
static void *identity(uint64_t physical)
{
	return (void *)physical;
}

static void add_tag(const void *tag, uint32_t bytes)
{
	if (made.bytes + align_up(bytes, 8) > sizeof(made))
		return;
	__builtin_memcpy((uint8_t *)&made + made.bytes, tag, bytes);
	made.bytes += (uint32_t)align_up(bytes, 8);
}

/* Physical; 0 when there is none. */
static uint64_t take_memory(uint64_t *bytes)
{
	for (*bytes = MOST_MEMORY; *bytes >= LEAST_MEMORY; *bytes /= 2) {
		uint64_t address = EFI_MEMORY_LIMIT - 1;
		if (!efi.services->allocate_pages(EFI_ALLOCATE_BELOW, EFI_LOADER_DATA, *bytes / PAGE,
						  &address))
			return address;
	}
	return 0;
}

/* The module goes to the beginning of the kernel's memory, and firmware keeps what else there is. */
static void add_memory(struct module_tag module)
{
	uint64_t bytes;
	const uint64_t address = take_memory(&bytes);
	struct memory_tag memory = {
	    .tag = {TAG_MEMORY, sizeof(memory)},
	    .entry_bytes = sizeof(memory.entries[0]),
	    .entries = {{KERNEL_START, kernel_to_physical((word)kernel_end) - KERNEL_START, MEMORY_USABLE, 0},
			{address, bytes, MEMORY_USABLE, 0}},
	};
	const uint32_t size = module.end - module.start;

	if (!address || size > bytes)
		give_up("kentry lab: the firmware has no 16 MiB of memory below 3 GiB for it\r\n");
	__builtin_memcpy(identity(address), identity(module.start), size);
	module.start = (uint32_t)address;
	module.end = (uint32_t)address + size;
	module.tag.bytes = sizeof(module);
	add_tag(&module, sizeof(module));
	add_tag(&memory, sizeof(memory));
}

static void take_tag(const struct tag *tag, struct module_tag *module)
{
	const uint64_t *const value = (const void *)(tag + 1);

	switch (tag->type) {
	case TAG_MODULE:
		*module = *(const struct module_tag *)tag;
		break;
	case TAG_SYSTEM:
		efi.system = (void *)*value;
		efi.services = efi.system->services;
		break;
	case TAG_IMAGE:
		efi.image = (void *)*value;
		break;
	case TAG_MEMORY:
	case TAG_MEMORY_SIZE:
	case TAG_MEMORY_EFI:
		break;
	default:
		add_tag(tag, tag->bytes);
	}
}

/* Called by efi.S, in the firmware's state. Returns where the information for the kernel is, physically. */
uint32_t efi_prepare(uint32_t information, uint64_t cr4)
{
	const uint8_t *const found = identity(information);
	const uint32_t bytes = *(const uint32_t *)found;
	struct module_tag module = {.start = 0};
	static const struct tag end = {TAG_END, sizeof(end)};

	for (uint64_t at = 8; at + sizeof(struct tag) <= bytes;) {
		const struct tag *tag = (const void *)(found + at);
		if (tag->type == TAG_END || tag->bytes < sizeof(*tag))
			break;
		take_tag(tag, &module);
		at += align_up(tag->bytes, 8);
	}
	/* GRUB keeps boot services and tells where they are, or does neither. */
	if (!efi.services)
		give_up("kentry lab: the boot loader does not say where the firmware's services are\r\n");
	if (cr4 & CR4_LA57)
		give_up("kentry lab: the firmware uses page tables of five levels, and this kernel four; "
			"boot by BIOS, "
			"or switch five levels off in the firmware's setup\r\n");
	add_memory(module);
	add_tag(&end, sizeof(end));
	save_cpu();
	return (uint32_t)kernel_to_physical((word)&made);
}

int efi_is_there(void)
{
	return efi.services != 0;
}

static void restore_registers(void)
{
	for (unsigned i = 0; i < KEPT_MSRS; i++)
		wrmsr(kept_msrs[i], kept_values[i]);
	/* NX stays: the kernel's half of the page tables has it. */
	wrmsr(MSR_EFER, efi_cpu.efer | (rdmsr(MSR_EFER) & EFER_NXE));
	memory_types_restore();
	fpu_reset();
	if (efi_cpu.cr4 & CR4_OSXSAVE && cpu_has(FEATURE_XSAVE))
		__asm__ volatile("xsetbv" : : "c"(0), "a"((uint32_t)efi_cpu.xcr0), "d"(efi_cpu.xcr0 >> 32));
	firmware_redo();
	speculation_restore();
	__asm__ volatile("mov %0, %%dr7" : : "r"(efi_cpu.dr7));
}

_Noreturn void efi_return(void (*then)(void))
{
	uint64_t kernel;

	/* An interrupt that is pending is the kernel's. From then on they are the firmware's, when it lets them in. */
	__asm__ volatile("sti; nop; cli" : : : "memory");
	apic_restore();
	strays_restore();
	__asm__ volatile("mov %%cr3, %0" : "=r"(kernel));
	const uint64_t *const top = physical_to_virtual(kernel & 0x000ffffffffff000ul);
	__builtin_memcpy(efi_top + FIRST_UPPER, top + FIRST_UPPER, (ENTRIES - FIRST_UPPER) * sizeof(*top));
	restore_registers();
	efi_resume(then, kernel_to_physical((word)efi_top));
}
