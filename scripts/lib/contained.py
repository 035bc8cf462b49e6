"""Runs a command as in a container: no new namespaces (seccomp, as container engines filter them) and no right to mount.

    contained.py COMMAND…

For root on x86_64; /sys/fs/cgroup is hidden by the caller (scripts/anywhere.sh).
"""

import ctypes
import errno
import os
import struct
import sys

PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 24, 38, 22, 2
CAP_SYS_ADMIN = 21
LOAD, JUMP_EQUAL, JUMP_SET, RETURN = 0x20, 0x15, 0x45, 0x06
ALLOW, FAIL = 0x7FFF0000, 0x00050000
CLONE, UNSHARE, SETNS, CLONE3 = 56, 272, 308, 435
NAMESPACES = 0x7E020000  # CLONE_NEW*: of mounts, cgroups, UTS, IPC, users, processes and networks


def program():
    """Which system calls fail: (code, jump if true, jump if false, operand)."""
    return [
        (LOAD, 0, 0, 0),  # the number of the call
        (JUMP_EQUAL, 4, 0, UNSHARE),
        (JUMP_EQUAL, 3, 0, SETNS),
        (JUMP_EQUAL, 3, 0, CLONE3),  # libc then takes clone, whose flags can be seen
        (JUMP_EQUAL, 3, 0, CLONE),
        (RETURN, 0, 0, ALLOW),
        (RETURN, 0, 0, FAIL | errno.EPERM),
        (RETURN, 0, 0, FAIL | errno.ENOSYS),
        (LOAD, 0, 0, 16),  # its flags
        (JUMP_SET, 0, 1, NAMESPACES),
        (RETURN, 0, 0, FAIL | errno.EPERM),
        (RETURN, 0, 0, ALLOW),
    ]


def main():
    libc = ctypes.CDLL(None, use_errno=True)

    def prctl(*words):
        if libc.prctl(*words, *[0] * (5 - len(words))) != 0:
            sys.exit(f"contained.py: prctl: {os.strerror(ctypes.get_errno())}")

    code = b"".join(struct.pack("HBBI", *line) for line in program())
    buffer = ctypes.create_string_buffer(code)
    filter_ = struct.pack("HxxxxxxQ", len(program()), ctypes.addressof(buffer))
    if os.geteuid() == 0:
        prctl(PR_CAPBSET_DROP, CAP_SYS_ADMIN)
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.create_string_buffer(filter_))
    os.execvp(sys.argv[1], sys.argv[1:])


if __name__ == "__main__":
    main()
