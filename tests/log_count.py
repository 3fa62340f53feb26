"""Instructions of rows of a Linux guest, counted without anything of kentry's but its probes: by QEMU's log of executed
instructions (-d exec, one instruction a line), from one rdtsc of the timed code to the next.

    log_count.py KERNEL PROBES RUN.json ENTRY:OPERATION...

PROBES is the folder that `kentry probes` wrote, RUN.json a run of `kentry linux --kernel KERNEL`. Prints, for each row, what the log
counts and what the run says, and ends with 1 if any of them differ.
"""

import collections
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import tomllib

SAMPLES = 8
# argv of a probe (abi/request.h): mode, entry, operation, blocks, ticks, bursts, parent, CPU, path, samples, pages, lines, uses
REQUEST = "1 {entry} {operation} 1 1000000000 0 1 0 0 " + str(SAMPLES) + " 0 0 1"
# Trace 0: 0x7f4c5c0001c0 [cs_base/pc/flags/cflags] symbol; the low two bits of the flags are the ring (target/i386/cpu.h).
LINE = re.compile(rb"^Trace \d+: 0x[0-9a-f]+ \[[0-9a-f]+/([0-9a-f]+)/([0-9a-f]+)/([0-9a-f]+)\]")
# Under -icount an instruction that turns out to read a device is begun, given up, and executed by code that is made for it alone, with
# this flag (cpu_io_recompile in accel/tcg/translate-all.c): it is logged twice, and counts once.
AGAIN = 0x10000  # CF_MEMI_ONLY
# Seconds that a guest may take: each instruction is a line, and on a busy machine some kernels take minutes until the first probe runs.
DEADLINE = 900


def stamps(probe, function):
    """The addresses of the four rdtsc of the timed function."""
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", f"--disassemble={function}", probe], capture_output=True,
                          text=True, check=True).stdout
    found = [int(match, 16) for match in re.findall(r"^\s*([0-9a-f]+):\s+rdtsc\s*$", text, re.M)]
    if len(found) != 4:
        raise SystemExit(f"{probe}: {function} has {len(found)} rdtsc, not 4")
    return found


class Log(threading.Thread):
    """Reads the log as it comes, and keeps the line number of each stamp: the log itself would fill the memory."""

    def __init__(self, path):
        super().__init__(daemon=True)
        self.path, self.wanted, self.seen, self.lines = path, {}, [], 0

    def run(self):
        with open(self.path, "rb", buffering=1 << 20) as pipe:
            for line in pipe:
                match = LINE.match(line)
                if not match or int(match[3], 16) & AGAIN:
                    continue
                self.lines += 1
                address = int(match[1], 16)
                if address in self.wanted and int(match[2], 16) & 3 == 3:
                    self.seen.append((self.wanted[address], self.lines))


class Guest:
    def __init__(self, kernel, probes, parameters, folder):
        self.folder, self.is_late = folder, False
        subprocess.run(["cc", "-O1", "-static", os.path.join(os.path.dirname(__file__), "log-init.c"), "-o", f"{folder}/init"], check=True)
        for probe in ("probe32", "probe64"):
            subprocess.run(["cp", f"{probes}/{probe}", folder], check=True)
            os.chmod(f"{folder}/{probe}", 0o755)
        with open(f"{folder}/archive", "wb") as archive:
            subprocess.run(["cpio", "-o", "-H", "newc", "--quiet"], input=b"init\nprobe32\nprobe64\n", stdout=archive, cwd=folder, check=True)
        os.mkfifo(f"{folder}/log")
        self.log = Log(f"{folder}/log")
        self.log.start()
        self.qemu = subprocess.Popen(
            ["qemu-system-x86_64", "-M", "microvm,rtc=on,pic=off", "-rtc", "base=2026-01-01T00:00:00,clock=vm", "-m", "512", "-nodefaults", "-no-user-config", "-no-reboot", "-display", "none",
             "-serial", "stdio", "-monitor", f"unix:{folder}/monitor,server=on,wait=off", "-D", f"{folder}/log", "-kernel", kernel,
             "-initrd", f"{folder}/archive", "-cpu", "max,vendor=GenuineIntel,-rdrand,-rdseed", "-accel", "tcg", "-icount", "shift=0,sleep=off",
             "-append", parameters],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.wait(b"ready")
        self.monitor = socket.socket(socket.AF_UNIX)
        self.monitor.connect(f"{folder}/monitor")
        self.prompt()

    def wait(self, word):
        for line in self.qemu.stdout:
            if line.startswith(word):
                return line
        raise SystemExit(f"the guest took longer than {DEADLINE} s" if self.is_late else "the guest ended early")

    def prompt(self):
        text = b""
        while not text.endswith(b"(qemu) "):
            text += self.monitor.recv(4096) or sys.exit("the monitor closed")

    def ask(self, command):
        self.monitor.sendall(command.encode() + b"\n")
        self.prompt()

    def step(self, how):
        """The first word is that of QEMU before 8.1, which knows no other; the second that of newer ones."""
        self.ask(f"singlestep {how}")
        self.ask(f"one-insn-per-tb {how}")

    def count(self, probe, function, entry, operation):
        first, *_ = places = stamps(f"{self.folder}/{probe}", function)
        self.log.wanted, self.log.seen = {place: number for number, place in enumerate(places)}, []
        self.step("on")
        self.ask("log exec,nochain")
        self.qemu.stdin.write(f"/{probe} {REQUEST.format(entry=entry, operation=operation)}\n".encode())
        self.qemu.stdin.flush()
        self.wait(b"ended")
        self.ask("log none")
        self.step("off")
        time.sleep(0.3)  # the end of the log is still in the pipe
        return most_frequent(self.log.seen)

    def end_late(self):
        self.is_late = True
        self.close()

    def close(self):
        self.qemu.kill()
        self.qemu.wait()


def most_frequent(seen):
    """Of samples whose stamps were passed in order: lines from stamp 2 to 3 less those from 1 to 2."""
    costs = []
    for at in range(len(seen) - 3):
        sample = seen[at:at + 4]
        if [number for number, _ in sample] == [0, 1, 2, 3]:
            lines = [line for _, line in sample]
            costs.append((lines[3] - lines[2]) - (lines[2] - lines[1]))
    return collections.Counter(costs).most_common(1)[0][0] if costs else None


def rows(table, names):
    """Of each name: the probe, its timed function, and the ids of entry and operation."""
    entries = {entry["name"]: entry for entry in table["entry"]}
    operations = {operation["name"]: operation for operation in table["operation"]}
    for name in names:
        entry, operation = name.split(":")
        row, operation = entries[entry], operations[operation]
        yield row["probe"], timed_function(entry, operation), row["id"], operation["id"]


def timed_function(entry, operation):
    """Its symbol in the probe: an operation of several calls has one of its own for their number (probe/timed.inc)."""
    calls = len(operation.get("calls", [None]))
    return entry.replace("-", "_") + (f"_calls{calls}" if calls > 1 else "") + "_timed"


def said(run, names):
    """What the run says of each name: its instructions, or none."""
    found = {f"{row['entry']}:{row['operation']}": row["instructions"] for row in run["results"]}
    return [found[name]["estimate"] if found.get(name) else None for name in names]


def main():
    kernel, probes, run, *names = sys.argv[1:]
    with open(os.path.join(os.path.dirname(__file__), "../entries.toml"), "rb") as file:
        planned = list(rows(tomllib.load(file), names))
    with open(run) as file:
        run = json.load(file)
    parameters = run["environment"]["guest"]["kernels"][0]["command_line"]
    differ = 0
    with tempfile.TemporaryDirectory() as folder:
        guest = Guest(kernel, probes, parameters, folder)
        threading.Timer(DEADLINE, guest.end_late).start()
        for name, row, other in zip(names, planned, said(run, names)):
            count = guest.count(*row)
            agrees = count is not None and count == other
            differ += not agrees
            print(f"{'same' if agrees else 'DIFFERENT'} {name}: by the log {count}, by kentry {other}", flush=True)
        guest.close()
    sys.stdout.flush()
    os._exit(1 if differ else 0)  # the timer and the reader of the log need not be waited for


main()
