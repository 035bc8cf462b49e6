# shellcheck shell=bash disable=SC2034
# Which LibTorch, GPUs and drivers Lockstep accepts: every such number of the setup is here.

# Versions that can be built against: torch_oldest <= version < torch_limit (major.minor).
torch_oldest=2.11
torch_limit=3.0

# What the wheels of wheels-cpu.txt and wheels-cuda.txt take, downloaded and unpacked, in MB.
wheels_cpu_mb=1800
wheels_cuda_mb=8000

# The wheels' CUDA version, and the oldest driver of each CUDA generation.
wheels_cuda=13.0
driver_for_cuda_12=525
driver_for_cuda_13=580

# The oldest GPU generation (T4), and the oldest compiler.
oldest_capability=7.5
oldest_compiler=12
oldest_cmake=3.22
