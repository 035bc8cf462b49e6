"""Lets one process after the other serve the jobs of a batch, so that what takes long to load is loaded once.

    import next_job
    import numpy, lightgbm          # what takes long
    next_job.stay()                 # a copy of the process stays here for the next job
    main(sys.argv[1:])              # as without it; parameters are read anew in each job

For job files with workers = "kept"; elsewhere stay() does nothing. Call it before the program starts threads, uses a
GPU or opens files that it writes to: the copy has none of the threads and all of the rest. Copy this file as you like.
"""
import array
import ctypes
import json
import os
import signal
import socket
import sys

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.getenv.restype = ctypes.c_void_p
PR_SET_PDEATHSIG = 1


def stay():
    fd, _, idle_mark = os.environ.pop("LOCKSTEP_WORKER", "").partition(" ")
    mark = LIBC.getenv(b"LOCKSTEP_ATTEMPT")
    if not fd or not mark:
        return
    try:
        batch = socket.socket(fileno=int(fd))
    except OSError:  # a wrapper has closed it
        return
    with batch:
        batch.set_inheritable(False)
        while True:
            sys.stdout.flush()
            sys.stderr.flush()
            copy = os.fork()
            if copy:
                said = {"stays": copy, "job": os.getpid(), "arguments": sys.argv[1:]}
                batch.sendall(json.dumps(said).encode() + b"\n")
                return
            become_idle(mark, idle_mark)
            become(next_of(batch), batch, mark)


def write_mark(place, mark):
    """Where others see it in /proc: a variable that is only set would not be seen there."""
    ctypes.memmove(place, mark.encode(), len(mark))
    os.environ["LOCKSTEP_ATTEMPT"] = mark


def print_to(fd):
    os.dup2(fd, 1)
    os.dup2(fd, 2)
    os.close(fd)


def become_idle(place, idle_mark):
    os.setsid()
    write_mark(place, idle_mark)
    print_to(os.open(os.devnull, os.O_WRONLY))


def next_of(batch):
    """The job, and where it prints. Ends the process where no job comes any more."""
    line, output = b"", None
    while not line.endswith(b"\n"):
        part, ancillary, _, _ = batch.recvmsg(1 << 16, socket.CMSG_SPACE(array.array("i").itemsize))
        if not part:
            os._exit(0)
        line += part
        for _, _, data in ancillary:
            output = array.array("i", data)[0]
    return json.loads(line), output


def become(found, batch, place):
    job, output = found
    write_mark(place, job["mark"])  # first: from here on the process is the job's
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != job["supervisor"]:
        os._exit(1)
    print_to(output)
    for name, value in job["environment"].items():
        os.environ.pop(name, None)
        if value is not None:
            os.environ[name] = value
    batch.sendall(b'{"took":true}\n')
    if "numpy" in sys.modules:  # or all jobs would draw the same
        sys.modules["numpy"].random.seed()
    os.chdir(job["folder"])
    sys.argv[1:] = job["arguments"]
