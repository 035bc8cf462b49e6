"""A job whose copy stays for the next one. Holds a lock while it runs; what it writes says how often it ran; job 2 fails
once."""
import fcntl
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../examples/batch"))
import next_job



def run(job):
    with open(f"lock.{job}", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            open("doubles", "a").write(f"{job}\n")
        open(f"ran.{job}", "a").write("x\n")
        time.sleep(float(os.environ.get("NAP", 0.01 * (int(job) % 4))))
        if job == "2" and not os.path.exists("failed"):
            open("failed", "w").close()
            sys.exit(3)
        with open(os.path.join(os.environ["LOCKSTEP_OUT"], "result"), "w") as file:
            file.write(f"{len(open(f'ran.{job}').readlines())}\n")


if __name__ == "__main__":
    next_job.stay()
    run(sys.argv[1])
