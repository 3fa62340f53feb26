"""Instructions of GNU Mach's traps, counted by QEMU's log of executed instructions (-d exec, one instruction a line), from one rdtsc of
main.c's timed code to the next.

    count.py [--shift N] FOLDER KERNEL...

FOLDER is the one that scripts/gnumach.sh made, a KERNEL one of its files. Prints a row for each trap: instructions in the kernel; in all,
with the instruction that enters, which is what the control does not have; how many of them are turns of a rep after its first; and what
the first time took in all, when the kernel had nothing at hand. Under them, for a kernel with symbols, where each trap's instructions are.
Ends with 1, and says on stderr why, if a trap returned something wrong, if its samples after the first differ in one instruction, or if
the instruction counter, which the program has read, says something else.

A sample with an interrupt or an exception in it is excluded, and named. QEMU's -kernel is the boot loader; with -icount an instruction
takes 2^N nanoseconds, 8 unless said, so that the delays of drivers end soon, and a clock's tick is the same in each boot. The log is on
between two breakpoints, set by gdb's protocol, which is also how the program's own figures are read.
"""

import argparse
import bisect
import collections
import itertools
import os
import struct
import subprocess
import sys
import tempfile
import threading

sys.dont_write_bytecode = True
from debugger import AGAIN, INTERRUPTION, LINE, Debugger, Ended, symbols

HERE = os.path.dirname(os.path.abspath(__file__))
BASE = 0x10000000  # of the program: below it is what the boot loader uses
DEADLINE = 60
BOOTS = 3  # at most
ROW = struct.Struct("24s" + 17 * "II")  # struct row in main.c
ROW_FORMAT = "{:12} {:20} {:8} {:22} {:>6} {:>6} {:>4} {:>6}  {}"
Kernel = collections.namedtuple("Kernel", "name path version bits entry symbols")
Sample = collections.namedtuple("Sample", "kernel all rep interruptions places")


def kernel(folder, name):
    path = f"{folder}/{name}"
    with open(path, "rb") as file:
        bits = 32 * file.read(5)[4]  # EI_CLASS
    with open(f"{path}.version") as file:
        return Kernel(name, path, file.read().strip(), bits, {32: "lcall", 64: "syscall"}[bits], symbols(path))


def compile_program(bits, path):
    subprocess.run(["gcc", f"-m{bits}", "-O1", "-Wall", "-ffreestanding", "-fno-stack-protector", "-fcf-protection=none", "-mgeneral-regs-only",
                    "-fno-pic", "-no-pie", "-static", "-nostdlib", f"-Wl,-Ttext-segment={BASE:#x},--build-id=none",
                    f"{HERE}/main.c", f"{HERE}/trap{bits}.S", "-o", path], check=True)


def boot(kernel, folder, shift):
    """What the program has kept, the log of its traps, and whether the kernel shows what it prints."""
    compile_program(kernel.bits, f"{folder}/program")
    places = {name: (address, size) for address, size, name in symbols(f"{folder}/program")}
    # QEMU's loader takes no ELF of 64 bits. The kernel begins in 32-bit code and fits below 4 GiB, so it can be called what it is not.
    subprocess.run(["objcopy", "--strip-all", "-O", "elf32-i386", kernel.path, f"{folder}/kernel"], check=True)
    for attempt in range(1, BOOTS + 1):
        kept, status = run(folder, shift, places)
        if kept is not None:
            break
        texts = (written(f"{folder}/{name}")[-500:] for name in ("errors", "console"))
        said = "\n".join([f"{kernel.name}: QEMU ended with {status}", *texts])
        # So QEMU 10 ended in 2 of 14 boots on a busy machine, as when a machine is reset: while the kernel looked for devices.
        if status or attempt == BOOTS:
            raise SystemExit(said)
        print(f"{said}\nIt is booted again.", file=sys.stderr)
    with open(f"{folder}/log") as log:
        return kept, list(samples(log, places)), "mach_print is there" in written(f"{folder}/console")


def run(folder, shift, places):
    """What the program has kept, or None if QEMU ended before its time; and with what."""
    for name in ("gdb", "console", "log"):
        if os.path.exists(f"{folder}/{name}"):
            os.remove(f"{folder}/{name}")
    with open(f"{folder}/errors", "wb") as errors:
        qemu = start(folder, shift, errors)
    deadline = threading.Timer(DEADLINE, qemu.kill)
    deadline.start()
    try:
        kept = follow(Debugger(f"{folder}/gdb", lambda: qemu.poll() is not None), places)
        return (None if qemu.wait() else kept), qemu.returncode
    except (Ended, OSError):
        return None, qemu.wait()
    finally:
        deadline.cancel()
        qemu.kill()


def start(folder, shift, errors):
    return subprocess.Popen(
        ["qemu-system-x86_64", "-M", "pc", "-m", "256", "-nodefaults", "-no-user-config", "-no-reboot", "-display", "none",
         "-rtc", "base=2026-01-01T00:00:00,clock=vm", "-cpu", "max,vendor=GenuineIntel,-rdrand,-rdseed", "-accel", "tcg",
         "-icount", f"shift={shift},sleep=off", "-serial", f"file:{folder}/console", "-D", f"{folder}/log",
         "-S", "-gdb", f"unix:{folder}/gdb,server=on,wait=off", "-kernel", f"{folder}/kernel", "-append", "console=com0",
         "-initrd", f"{folder}/program ${{host-port}} ${{device-port}} $(task-create) $(task-resume)"], stderr=errors)


def follow(debugger, places):
    """Logs what is between the two breakpoints; what the program has kept then."""
    debugger.run_to(places["measure_begin"][0])
    debugger.log_to(places["measure_end"][0])
    kept = debugger.read(*places["rows"])
    debugger.ask("D")  # goes on without us, until the program has the machine reset
    return kept


def written(path):
    if not os.path.exists(path):
        return ""
    with open(path, errors="replace") as file:
        return file.read()


def samples(log, places):
    """The executions of the timed code, and of its control, in order."""
    begins, ends = ({places[f"{name}_{end}"][0] for name in ("timed", "control")} for end in ("begin", "end"))
    inside = None
    for line in log:
        if match := LINE.match(line):
            address, flags, how = (int(word, 16) for word in match.groups())
            if how & AGAIN:
                continue
            if address in begins and inside is None:
                inside, interruptions = [], []
            elif address in ends and inside is not None:
                yield sample(inside, interruptions)
                inside = None
            if inside is not None:
                inside.append((address, flags & 3))
        elif inside is not None and (match := INTERRUPTION.match(line)):
            interruptions.append(int(match[1], 16))


def sample(lines, interruptions):
    kernel = [address for address, ring in lines if ring == 0]
    turns = sum(a == b for a, b in itertools.pairwise(kernel))
    return Sample(len(kernel), len(lines), turns, tuple(interruptions), tuple(kernel))


def where(places, symbols):
    """Instructions by the symbol that they are behind, in the order in which these are first come to."""
    addresses = [address for address, _, _ in symbols]
    counts = collections.Counter()
    for place in places:
        counts[symbols[bisect.bisect(addresses, place) - 1][2]] += 1
    return ", ".join(f"{name} {count}" for name, count in counts.items())


class Complaints(list):
    def expect(self, what, holds):
        if not holds:
            self.append(what)


def report(kernel, shift, kept, logged, has_print):
    """Prints the rows of one kernel, and returns what is wrong with them."""
    wrong, paths, control = Complaints(), [], None
    rows = list(ROW.iter_unpack(kept))
    each = len(rows[0]) // 2
    wrong.expect(f"{len(logged)} samples in the log", len(logged) == each * len(rows))
    for (name, *kept), seen in zip(rows, zip(*[iter(logged)] * each)):
        name = name.rstrip(b"\0").decode()
        if name == "mach_print" and not has_print:
            print(f"absent   {kernel.name} {name}: the kernel shows nothing")
            continue
        wrong.expect(f"{name}: a wrong result", all(kept[1::2]))
        first, *counted = without_interruptions(f"{kernel.name} {name}", seen, kept[::2])
        kinds = collections.Counter(filter(None, counted))
        wrong.expect(f"{name}: too many are excluded", kinds.total() > each // 2)
        wrong.expect(f"{name}: samples differ: {[(s.kernel, s.all, t, n) for (s, t), n in kinds.items()]}", len(kinds) == 1)
        if not kinds:
            continue
        (usual, ticks), _ = kinds.most_common(1)[0]
        if name == "control":
            control, control_ticks = usual, ticks
            continue
        more = usual.all - control.all
        wrong.expect(f"{name}: {more} in all, {usual.kernel} in the kernel", more == usual.kernel + 1)
        by_counter = (ticks - control_ticks) / 2**shift
        wrong.expect(f"{name}: {more} by the log, {by_counter} by the counter", by_counter == more)
        print(ROW_FORMAT.format(kernel.name, kernel.version, kernel.entry, name, usual.kernel, more, usual.rep,
                                first[0].all - control.all if first else "-", f"{kinds.total()} of {each - 1}"))
        if kernel.symbols:
            paths.append(f"path     {kernel.name} {name}: {where(usual.places, kernel.symbols)}")
    print(*paths, sep="\n", end="\n" if paths else "", flush=True)
    return wrong


def without_interruptions(name, seen, ticks):
    """Each sample and its ticks; nothing in the place of one that is excluded."""
    for number, pair in enumerate(zip(seen, ticks)):
        interruptions = pair[0].interruptions
        if interruptions:
            print(f"excluded {name}: sample {number}, for vector {', '.join(map(hex, interruptions))}")
        yield None if interruptions else pair


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--shift", type=int, default=3)
    arguments.add_argument("folder")
    arguments.add_argument("kernels", nargs="+")
    asked = arguments.parse_args()
    wrong = []
    print(ROW_FORMAT.format("kernel", "version", "entry", "trap", "kernel", "in all", "rep", "first", "samples"))
    for name in asked.kernels:
        with tempfile.TemporaryDirectory() as work:
            this = kernel(asked.folder, name)
            wrong += [f"WRONG    {name} {what}" for what in report(this, asked.shift, *boot(this, work, asked.shift))]
    print(*wrong, sep="\n", end="\n" if wrong else "", file=sys.stderr)
    sys.exit(bool(wrong))


main()
