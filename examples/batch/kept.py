"""A script that loads much and works little: see kept.toml."""
import json
import os
import sys
import time

import next_job

time.sleep(0.2)  # stands for imports and data that take a while
loaded_by = os.getpid()
next_job.stay()

rate, seed = float(sys.argv[1]), int(sys.argv[2])
with open(os.path.join(os.environ["LOCKSTEP_OUT"], "result.json"), "w") as file:
    json.dump({"rate": rate, "seed": seed, "loaded_here": loaded_by == os.getpid()}, file)
print(f"rate {rate}, seed {seed}, in process {os.getpid()}")
