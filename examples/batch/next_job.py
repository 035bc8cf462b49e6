"""Lets one process after the other serve the jobs of a batch, so that what takes long to load is loaded once.

    import next_job
    import numpy, lightgbm          # what takes long
    next_job.stay()                 # a copy of the process stays here for the next job
    main(sys.argv[1:])              # as without it; parameters are read anew in each job

For job files with workers = "kept"; elsewhere stay() does nothing. Call it before the program starts threads, uses a
GPU or opens files that it writes to: the copy has none of the threads and all of the rest. Copy this file as you like.

Or, where a job leaves nothing of itself in the process, not even its own seeds, one process does many jobs:

    for arguments in next_job.jobs():
        main(arguments)             # an exception, and sys.exit, end the process, and the next job has a new one
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


def socket_of_batch():
    """The socket, and the mark of a process that waits; None where no worker is kept."""
    fd, _, idle_mark = os.environ.pop("LOCKSTEP_WORKER", "").partition(" ")
    if not fd or not LIBC.getenv(b"LOCKSTEP_ATTEMPT"):
        return None, ""
    try:
        batch = socket.socket(fileno=int(fd))
    except OSError:  # a wrapper has closed it
        return None, ""
    batch.set_inheritable(False)
    return batch, idle_mark


def say(batch, **what):
    batch.sendall(json.dumps({**what, "job": os.getpid(), "arguments": sys.argv[1:]}).encode() + b"\n")


def flush():
    sys.stdout.flush()
    sys.stderr.flush()
    LIBC.fflush(None)  # what libraries have printed


def stay():
    mark = LIBC.getenv(b"LOCKSTEP_ATTEMPT")
    batch, idle_mark = socket_of_batch()
    if batch is None:
        return
    with batch:
        while True:
            flush()
            copy = os.fork()
            if copy:
                say(batch, stays=copy)
                return
            os.setsid()
            write_mark(mark, idle_mark)
            print_to(os.open(os.devnull, os.O_WRONLY))
            become(next_of(batch), batch, mark)


def jobs():
    mark = LIBC.getenv(b"LOCKSTEP_ATTEMPT")
    batch, idle_mark = socket_of_batch()
    yield sys.argv[1:]
    while batch is not None and len(os.listdir("/proc/self/task")) == 1:
        flush()
        write_mark(mark, idle_mark)
        say(batch, stays=os.getpid(), ended=0)
        print_to(os.open(os.devnull, os.O_WRONLY))
        become(next_of(batch), batch, mark)
        yield sys.argv[1:]


def write_mark(place, mark):
    """Where others see it in /proc: a variable that is only set would not be seen there."""
    ctypes.memmove(place, mark.encode(), len(mark))
    os.environ["LOCKSTEP_ATTEMPT"] = mark


def print_to(fd):
    os.dup2(fd, 1)
    os.dup2(fd, 2)
    os.close(fd)


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
