"""Listens to NATS from outside: when does each frame of each seat arrive?"""

import subprocess
import sys
import threading
import time

LISTENER = r"""
import socket, sys, time
stream = socket.create_connection(("10.78.0.1", 4222)).makefile("rwb")
stream.write(b'CONNECT {"verbose":false,"pedantic":false,"lang":"py","version":"1","protocol":1}\r\nSUB brunt.*.f.* 1\r\nPING\r\n')
stream.flush()
while line := stream.readline():
    words = line.split()
    if words[0] == b"PING":
        stream.write(b"PONG\r\n")
        stream.flush()
    elif words[0] in (b"MSG", b"HMSG"):
        stream.read(int(words[-1]) + 2)
        print(words[1].decode().rsplit(".", 1)[1], flush=True)
"""


class Frames:
    """The arrivals of frames, seat by seat."""

    def __init__(self, site):
        self.arrivals = {}
        process = subprocess.Popen(["nsenter", f"--net=/proc/{site.hub}/ns/net", "--", sys.executable, "-c", LISTENER],
                                   stdout=subprocess.PIPE, text=True)
        site.processes.append(process)

        def read():
            for line in process.stdout:
                self.arrivals.setdefault(line.strip(), []).append(time.monotonic())

        threading.Thread(target=read, daemon=True).start()

    def count(self):
        return sum(map(len, self.arrivals.values()))

    def worst(self):
        """The longest time from one frame of a seat to the next, without the second that it spans."""
        gaps = [after - before for times in self.arrivals.values() for before, after in zip(times, times[1:])]
        return max(gaps) - 1
