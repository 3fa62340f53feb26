"""A guest of QEMU's, stopped and logged from outside: gdb's protocol, and the log of executed instructions (-d exec, one instruction a line)."""

import re
import socket
import subprocess
import time

# Trace 0: 0x7f4c5c0001c0 [cs_base/pc/flags/cflags] symbol; the low two bits of the flags are the ring (target/i386/cpu.h).
LINE = re.compile(r"^Trace \d+: 0x[0-9a-f]+ \[[0-9a-f]+/([0-9a-f]+)/([0-9a-f]+)/([0-9a-f]+)\]")
# What -d int says of an interrupt or an exception, with its vector.
INTERRUPTION = re.compile(r"^\s*\d+: v=([0-9a-f]+)")
# An instruction that was begun, given up, and is executed by code that is made for it alone (log_count.py).
AGAIN = 0x10000


class Ended(Exception):
    """The emulator is gone before its time."""


class Debugger:
    """As much of gdb's protocol as is needed."""

    def __init__(self, path, is_gone):
        """Waits for the emulator, until it is gone."""
        self.socket = socket.socket(socket.AF_UNIX)
        while self.socket.connect_ex(path):
            if is_gone():
                raise Ended
            time.sleep(0.05)
        self.stream = self.socket.makefile("rb")

    def ask(self, text):
        self.socket.sendall(b"$%s#%02x" % (text.encode(), sum(text.encode()) % 256))
        return self.answer()

    def answer(self):
        while (byte := self.stream.read(1)) != b"$":
            if not byte:
                raise Ended
        text = b"".join(iter(lambda: self.stream.read(1), b"#"))
        self.stream.read(2)
        self.socket.sendall(b"+")
        return text.decode()

    def monitor(self, command):
        answer = self.ask("qRcmd," + command.encode().hex())
        while answer != "OK":  # until then, what the command prints
            answer = self.answer()

    def run_to(self, address):
        self.ask(f"Z1,{address:x},1")
        if self.ask("c").startswith("W"):
            raise Ended
        self.ask(f"z1,{address:x},1")

    def read(self, address, size):
        parts = (self.ask(f"m{at:x},{min(512, address + size - at):x}") for at in range(address, address + size, 512))
        return bytes.fromhex("".join(parts))

    def one_instruction_a_line(self, how):
        """The first word is that of QEMU before 8.1, which knows no other; the second that of newer ones."""
        self.monitor(f"singlestep {how}")
        self.monitor(f"one-insn-per-tb {how}")

    def log_to(self, address):
        """Logs what is executed until there."""
        self.one_instruction_a_line("on")
        self.monitor("log exec,nochain,int")
        self.run_to(address)
        self.monitor("log none")
        self.one_instruction_a_line("off")


def symbols(path):
    """Address, size or nothing, and name of each."""
    text = subprocess.run(["nm", "-n", "-S", path], capture_output=True, text=True, check=True).stdout
    found = re.findall(r"^([0-9a-f]+) (?:([0-9a-f]+) )?[a-zA-Z] (\S+)$", text, re.M)
    return [(int(address, 16), int(size or "0", 16), name) for address, size, name in found]
