#!/usr/bin/env python3
"""What a message's round trip in the lab consists of, by where its instructions are: a table in Markdown.

    message_parts.py [--lab-kernel NAME] ENTRY [OPERATION...]

Has `kentry lab` measure each row with pti=off and pti=on, in a QEMU that logs each instruction of the timed code (-d exec, one instruction a
line); kentry is KENTRY, or what `make` builds. The whole is what is executed from the stamp before the entry to the one behind it, less what the
control executes. Each of its instructions is of one part: by the path that it is in (lab/entry/path.inc), or by the function of the source that
it was made of, also where that is inlined. Only debugging information tells of these, and the kernel that runs has none: it is compiled again
as the build has compiled it, with -g, and must be the same kernel, byte for byte.

Ends with 1, and says why, if the parts of a row do not add up to what kentry counts, or most of its samples are not the same.
An emulator counts instructions, and each turn of a `rep movs` as one: such counts rank no cost.
"""

import bisect
import collections
import functools
import itertools
import json
import operator
import os
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, f"{ROOT}/tests/gnumach")
sys.dont_write_bytecode = True
from debugger import AGAIN, INTERRUPTION, LINE, Debugger, Ended, symbols

KENTRY = os.path.realpath(os.environ.get("KENTRY", f"{ROOT}/target/x86_64-unknown-linux-gnu/release/kentry"))
OPERATIONS = ["mach_msg-rpc", "mach_msg-rpc-thread", "mach_msg-rpc-1024", "mach_msg-rpc-right"]
SETS = ["pti=off", "pti=on"]

ENTRY, COPY, NAMES, MESSAGE, QUEUE, SWITCH, SERVER, OTHER = PARTS = [
    "entry and return", "copy", "port translation", "the message", "queue and waiting", "switch", "the server's program", "other"]
# Of each part, files below lab/. A folder ends with a stroke.
FILES = {
    ENTRY: ["entry/dispatch.S", "entry/returns.S", "mach/traps.c", "mach/traps.def"],
    COPY: ["mm/user_memory.c", "memory.c"],
    NAMES: ["mach/names.c", "mach/rights.c", "mach/port.c", "mach/port.h", "mach/body.c", "entry/index-mask.h"],
    MESSAGE: ["mach/message.c", "mach/trap_message.c"],
    QUEUE: ["mach/queue.c", "mach/wait.c", "time/clock.c", "divide.c"],
    SWITCH: ["user/thread.c", "user/calls_timer.c", "entry/switch.S", "entry/hardware.c", "entry/steps/", "cpu/tables.c", "cpu/tss.h",
             "cpu/segments.h", "cpu/tasks.c", "cpu/events.c", "cpu/features.c", "mm/space.c", "mm/pcid.c", "mm/flush.c"],
}
# Functions that are of another part than their file.
FUNCTIONS = {
    NAMES: ["find_port", "read_header", "take_rights", "use_destination", "task_number"],
    QUEUE: ["wait_for_message", "thread_next", "thread_by_number", "threads_count"],
}
# Paths (entry/path.inc) that no program enters by; any other is entry and return.
PATHS = {"copy_user": COPY, "put_user_4": COPY, "put_user_8": COPY, "put_user_16": COPY, "switch_space": SWITCH}
MOST_NAMED = 8

# How many instructions are the control; and address and ring of each between the stamps around the entry.
Sample = collections.namedtuple("Sample", "control interruptions places")


class Wrong(Exception):
    """What does not agree."""


class Kernel:
    """Where the functions and paths of a kernel are."""

    def __init__(self, path, folder):
        self.path = with_debugging_information(path, folder)
        self.places = {}
        self.is_wide = contents(self.path)[4] == 2  # EI_CLASS
        listed = {name: address for address, _, name in symbols(self.path)}
        start, end = listed["path_list_start"], listed["path_list_end"]
        paths = struct.iter_unpack("<5Q" if self.is_wide else "<5I", self.memory(start, end - start))  # struct path of entry/path.c
        self.paths = sorted((slot, self.text(name)) for _, slot, _, name, _ in paths)
        self.paths_end, self.thread_switch = listed["paths_end"], listed["thread_switch"]

    def memory(self, address, size):
        kernel = contents(self.path)
        table, = struct.unpack_from("<Q", kernel, 32) if self.is_wide else struct.unpack_from("<I", kernel, 28)
        each, count = struct.unpack_from("<2H", kernel, 54 if self.is_wide else 42)
        for number in range(count):
            header = struct.unpack_from("<2I4Q" if self.is_wide else "<5I", kernel, table + number * each)
            kind, offset, start, bytes_there = (header[at] for at in ((0, 2, 3, 5) if self.is_wide else (0, 1, 2, 4)))
            if kind == 1 and start <= address < start + bytes_there:
                return kernel[offset + address - start:][:size]
        raise Wrong(f"the kernel has nothing at {address:#x}")

    def text(self, address):
        return self.memory(address, 100).split(b"\0")[0].decode()

    def look_up(self, addresses):
        """Finds all of them by one run of addr2line, which takes its time."""
        missing = sorted(set(addresses) - set(self.places))
        for address in missing:
            if self.paths[0][0] <= address < self.paths_end:
                path = self.paths[bisect.bisect(self.paths, (address, "\xff")) - 1][1]
                self.places[address] = PATHS.get(path, ENTRY), f"path {path}"
        missing = [address for address in missing if address not in self.places]
        if not missing:
            return
        text = subprocess.run(["addr2line", "-a", "-i", "-f", "-e", self.path], input="".join(f"{address:#x}\n" for address in missing),
                              capture_output=True, text=True, check=True).stdout
        for block in re.split(r"^(?=0x)", text, flags=re.M)[1:]:
            address, *frames = block.splitlines()
            self.places[int(address, 16)] = part_of(list(zip(frames[::2], frames[1::2])))


def part_of(frames):
    """The part, and the function that says so: the innermost that is of a part, of those that are inlined in each other."""
    for function, place in frames:
        file = os.path.normpath(place.rpartition(":")[0]).rpartition("/lab/")[2].removeprefix("i386/")
        for part, functions in FUNCTIONS.items():
            if function in functions:
                return part, function
        for part, files in FILES.items():
            if any(file.startswith(name) if name.endswith("/") else file == name for name in files):
                return part, function if function != "??" else file
    return OTHER, frames[-1][0] if frames[-1][0] != "??" else frames[-1][1]


def with_debugging_information(path, folder):
    """The kernel of this file, compiled once more."""
    made = f"{folder}/kernel-debug"
    with open(build_of(contents(path))) as file:
        subprocess.run([*file.read().split("\n"), "-g", "-o", made], check=True)
    if stripped(made, folder) != stripped(path, folder):
        raise Wrong("the kernel is another one when it is compiled with -g: has its source changed since kentry was built?")
    return made


def stripped(path, folder):
    subprocess.run(["objcopy", "--strip-debug", path, f"{folder}/stripped"], check=True)
    return contents(f"{folder}/stripped")


def contents(path):
    with open(path, "rb") as file:
        return file.read()


def build_of(kernel):
    """What the kernel was compiled with, beside what came of it, in the folder of the build that has made kentry."""
    build = f"{os.path.dirname(KENTRY)}/build"
    for name in os.listdir(build) if os.path.isdir(build) else []:
        for made in (f"{build}/{name}/out/kernel", f"{build}/{name}/out/kernel-i386"):
            if os.path.exists(made) and contents(made) == kernel:
                return f"{made}.command"
    raise Wrong(f"{build}: no kernel here is kentry's: is this kentry where it was built?")


def timed(probe, entry):
    """The addresses of the timed function's begin and return, and of its four stamps."""
    function = f"{entry.replace('-', '_')}_message_timed"
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", f"--disassemble={function}", probe], capture_output=True, text=True,
                          check=True).stdout
    code = [(int(address, 16), name) for address, name in re.findall(r"^\s*([0-9a-f]+):\s+(\w+)", text, re.M)]
    stamps = [address for address, name in code if name == "rdtsc"]
    returns = [address for address, name in code if name.startswith("ret")]
    if len(stamps) != 4 or len(returns) != 1:
        raise Wrong(f"{probe}: {function} has {len(stamps)} stamps and {len(returns)} returns")
    return code[0][0], returns[0], stamps


def wrap_qemu(folder):
    """A program in QEMU's place, which keeps the kernel and has QEMU wait for us."""
    qemu = shutil.which("qemu-system-x86_64")
    if not qemu:
        raise Wrong("there is no qemu-system-x86_64")
    path = f"{folder}/bin/qemu-system-x86_64"
    os.mkdir(f"{folder}/bin")
    with open(path, "w") as file:
        file.write(f"""#!/bin/sh
qemu={shlex.quote(qemu)} folder={shlex.quote(folder)}
[ "$1" != --version ] || exec "$qemu" "$@"
previous=
for word; do
	[ "$previous" != -kernel ] || cp "$word" "$folder/kernel"
	previous=$word
done
exec "$qemu" "$@" -S -gdb "unix:$folder/gdb,server=on,wait=off" -D "$folder/log"
""")
    os.chmod(path, 0o755)


def write_probes(folder):
    if not os.path.exists(KENTRY):
        raise Wrong(f"there is no {KENTRY}: `make` builds it")
    subprocess.run([KENTRY, "probes", folder], stdout=subprocess.DEVNULL, check=True)


def measure(folder, lab_kernel, entry, operation, values, begin, end):
    """What kentry says of a row, and the emulator that has counted; the log of its timed code is in the folder."""
    for name in ("gdb", "log"):
        if os.path.exists(f"{folder}/{name}"):
            os.remove(f"{folder}/{name}")
    environment = dict(os.environ, PATH=f"{folder}/bin:{os.environ['PATH']}", XDG_DATA_HOME=folder)
    with open(f"{folder}/said", "wb") as said, open(f"{folder}/run", "wb") as out:
        kentry = subprocess.Popen([KENTRY, "lab", "--no-save", "--lab-kernel", lab_kernel, "--personality", "mach", "--accel", "tcg", "--set", values, "--entry", entry,
                                   "--operation", operation, "--format", "json"], env=environment, stdout=out, stderr=said)
        try:
            follow(Debugger(f"{folder}/gdb", lambda: kentry.poll() is not None), begin, end)
        except (Ended, OSError):
            pass  # that is how it ends; whether it has ended well, kentry says
        status = kentry.wait()
    with open(f"{folder}/said") as said, open(f"{folder}/run") as run:
        if status:
            raise Wrong(f"kentry ended with {status}\n{said.read()}")
        run = json.load(run)
    counted = [row["instructions"]["estimate"] for row in run["results"] if row["outcome"] == "ok" and row["instructions"]]
    if len(counted) != 1:
        raise Wrong(f"kentry counts {len(counted)} rows: {[row['reason'] for row in run['results']]}")
    return int(counted[0]), run["environment"]["guest"]


def follow(debugger, begin, end):
    while True:
        debugger.run_to(begin)
        debugger.log_to(end)


def samples(log, begin, stamps):
    """Of each turn of the timed code when it was called last, what it executes from its third stamp to its fourth; its control is from the second
    to the third. Called before, it has been observed (observe=on), which takes instructions."""
    found, seen, at, interruptions = [], [], [], []
    for line in log:
        if match := LINE.match(line):
            address, flags, how = (int(word, 16) for word in match.groups())
            if how & AGAIN:
                continue
            if address == begin:
                found = []
            if address == stamps[0]:
                seen, at, interruptions = [], [], []
            if address in stamps:
                at.append(len(seen))
            if address == stamps[3]:
                found.append(Sample(at[2] - at[1], interruptions, tuple(seen[at[2]:])))
            seen.append((address, flags & 3))
        elif match := INTERRUPTION.match(line):
            interruptions.append(int(match[1], 16))
    return found


def functions_of(kernel, sample):
    """By part, how many instructions of a sample are in which functions."""
    functions = {part: collections.Counter() for part in PARTS}
    client, is_server = 0, False
    for (address, ring), (_, next_ring) in itertools.pairwise([*sample.places, (0, 3)]):
        is_server ^= address == kernel.thread_switch
        if ring == 0:
            part, function = kernel.places[address]
            functions[part][function] += 1
        elif not is_server:
            client += 1
        elif next_ring == 0:
            functions[ENTRY]["what enters in the server"] += 1
        else:
            functions[SERVER]["all of it"] += 1
    # Between the stamps the client executes what the control executes, and what enters: one instruction, or a stub.
    functions[ENTRY]["what enters in the client"] += client - sample.control
    return functions


def whole(functions):
    return sum(counts.total() for counts in functions.values())


def take_row_apart(kernel, samples, counted):
    """By the most frequent of its samples, as kentry does, but for those with an interrupt or an exception in them."""
    usable = [sample for sample in samples if not sample.interruptions]
    kernel.look_up({address for sample in usable for address, ring in sample.places if ring == 0})
    kinds = [functions_of(kernel, sample) for sample in usable]
    usual = max(kinds, key=kinds.count, default={})
    if kinds.count(usual) * 2 <= len(kinds):
        raise Wrong(f"samples differ: {[whole(functions) for functions in kinds]}")
    if whole(usual) != counted:
        raise Wrong(f"the parts add up to {whole(usual)}, and kentry counts {counted}")
    return usual


def print_table(entry, emulator, rows):
    """A column for each row with each set of switches."""
    print(f"\n{entry}, instructions counted in {emulator}, by where they are:\n")
    print("| part |", " | ".join(f"`{operation}`, {values}" for operation, values in rows), "|")
    print("|---|" + "---:|" * len(rows))
    for part in PARTS:
        print(f"| {part} |", " | ".join(str(functions[part].total()) for functions in rows.values()), "|")
    print("| **the whole** |", " | ".join(str(whole(functions)) for functions in rows.values()), "|")
    print("\nWhere each part's most instructions are, in the row that has the most of them there:\n")
    for part in PARTS:
        most = functools.reduce(operator.or_, (functions[part] for functions in rows.values()))
        print(f"- {part}:", ", ".join(f"{name} {count}" for name, count in most.most_common(MOST_NAMED)) or "nothing")


def take_apart(lab_kernel, entry, operations, folder):
    begin, end, stamps = timed(f"{folder}/probe{'32' if entry.endswith('-i386') else '64'}", entry)
    rows, kernel = {}, None
    for operation, values in itertools.product(operations, SETS):
        counted, guest = measure(folder, lab_kernel, entry, operation, values, begin, end)
        kernel = kernel or Kernel(f"{folder}/kernel", folder)
        with open(f"{folder}/log") as log:
            seen = samples(log, begin, stamps)
        try:
            rows[operation, values] = take_row_apart(kernel, seen, counted)
        except Wrong as wrong:
            raise Wrong(f"{operation} by {entry} with {values}: {wrong}")
    print_table(entry, f"{guest['emulator']} with TCG", rows)


def main():
    words, lab_kernel = sys.argv[1:], "x86_64"
    if words[:1] == ["--lab-kernel"] and len(words) > 1:
        lab_kernel, *words = words[1:]
    if not words:
        sys.exit("usage: message_parts.py [--lab-kernel NAME] ENTRY [OPERATION...]")
    entry, *operations = words
    with tempfile.TemporaryDirectory() as folder:
        try:
            wrap_qemu(folder)
            write_probes(folder)
            take_apart(lab_kernel, entry, operations or OPERATIONS, folder)
        except Wrong as wrong:
            sys.exit(f"message_parts.py: {wrong}")


main()
