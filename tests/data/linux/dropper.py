"""Loses given packets: a program of eBPF where a router receives, which counts them from 0 on.

One dropper counts packets of data, another acknowledgements.
"""

import ctypes
import socket
import struct
from collections.abc import Iterable
from pathlib import Path

from guest import LIBC

BPF, SETNS = 321, 308
"""Numbers of system calls on x86-64."""
MAP_CREATE, MAP_UPDATE_ELEM, PROG_LOAD, LINK_CREATE = 0, 2, 5, 28
ARRAY, SCHED_CLS, TCX_INGRESS = 2, 3, 46
LONGEST = 131064
"""Packets that a pattern can have; all that follow pass."""
DATA, ACKS = (200, 65536), (0, 200)
"""Bytes on Ethernet, at least and less than: an acknowledgement has 66, with SACK up to 98."""


def bpf(command: int, attributes: bytes) -> int:
    """Call the kernel, which returns a descriptor or 0."""
    returned: int = LIBC.syscall(BPF, command, attributes, len(attributes))
    if returned < 0:
        raise OSError(ctypes.get_errno(), f"bpf {command}")
    return returned


def instruction(code: int, target: int = 0, source: int = 0, offset: int = 0, constant: int = 0) -> bytes:
    """Write one instruction of eBPF."""
    return struct.pack("=BBhi", code, source << 4 | target, offset, constant)


def program(counts: int, of_bytes: tuple[int, int]) -> bytes:
    """Write the program: look up the packet's number, count, and drop or pass.

    Parameters
    ----------
    counts
        Descriptor of the array whose one value is the number of packets so far, then a byte for each.
    of_bytes
        What it counts: `DATA` or `ACKS`.
    """
    least, beyond = of_bytes
    return b"".join(
        [
            instruction(0x61, 2, 1),  # r2 = length
            instruction(0xA5, 2, offset=17, constant=least),
            instruction(0x35, 2, offset=16, constant=beyond),
            instruction(0xB7, 3),  # key = 0, on the stack
            instruction(0x63, 10, 3, -4),
            instruction(0xBF, 2, 10),
            instruction(0x07, 2, constant=-4),
            instruction(0x18, 1, 1, constant=counts),  # r1 = the array
            instruction(0),
            instruction(0x85, constant=1),  # r0 = its value
            instruction(0x15, 0, offset=8),
            instruction(0x79, 1, 0),  # r1 = number of this packet
            instruction(0xBF, 2, 1),
            instruction(0x07, 2, constant=1),
            instruction(0x7B, 0, 2),
            instruction(0x35, 1, offset=3, constant=LONGEST),
            instruction(0x0F, 0, 1),
            instruction(0x71, 1, 0, 8),  # r1 = whether it is lost
            instruction(0x55, 1, offset=2),
            instruction(0xB7, 0, constant=-1),  # the next program, or on
            instruction(0x95),
            instruction(0xB7, 0, constant=2),  # drop
            instruction(0x95),
        ]
    )


class Dropper:
    """Where a namespace receives by a device, it loses those that the pattern says."""

    def __init__(self, namespace: str, device: str, of_bytes: tuple[int, int]) -> None:
        self.counts = bpf(MAP_CREATE, struct.pack("=IIIII", ARRAY, 4, 8 + LONGEST, 1, 0))
        code = ctypes.create_string_buffer(program(self.counts, of_bytes))
        log = ctypes.create_string_buffer(65536)
        licence = ctypes.create_string_buffer(b"GPL")
        address = ctypes.addressof
        fields = (SCHED_CLS, len(code) // 8, address(code), address(licence), 1, len(log), address(log))
        try:
            loaded = bpf(PROG_LOAD, struct.pack("=IIQQIIQ", *fields) + bytes(24) + struct.pack("=I", 0))
        except OSError as error:
            raise RuntimeError(log.value.decode()) from error
        with Path("/proc/self/ns/net").open() as own, Path(f"/run/netns/{namespace}").open() as other:
            LIBC.syscall(SETNS, other.fileno(), 0)
            index = socket.if_nametoindex(device)
            attributes = struct.pack("=IIII", loaded, index, TCX_INGRESS, 0) + bytes(16)
            self.link = bpf(LINK_CREATE, attributes)
            LIBC.syscall(SETNS, own.fileno(), 0)

    def lose(self, lost: Iterable[int]) -> None:
        """Begin to count anew, and lose the packets with these numbers."""
        value = bytearray(8 + LONGEST)
        for number in lost:
            value[8 + number] = 1
        key, place = ctypes.create_string_buffer(4), ctypes.create_string_buffer(bytes(value))
        fields = (self.counts, 0, ctypes.addressof(key), ctypes.addressof(place), 0)
        bpf(MAP_UPDATE_ELEM, struct.pack("=IIQQQ", *fields))
