"""As kept_job.py, but one process runs one job after the other."""
import kept_job

for arguments in kept_job.next_job.jobs():
    kept_job.run(arguments[0])
