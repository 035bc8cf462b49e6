// Parses a job's requests: `gpus`, `gpu_memory`, `workers`.
#pragma once

#include <cstdint>
#include <string_view>

#include "tools/jobs/job.h"

namespace lockstep {

// Parses "0", "1", "2" …, "auto", or a share from "0.25" to below 1. Throws Error for anything
// else. For example, "0.1" would let more than four jobs share a device.
GpuRequest parse_gpus(std::string_view text);

// Parses "2GiB", "1.5 GB", "800M", a number of bytes, "measure", "all". Throws Error.
GpuMemoryRequest parse_gpu_memory(std::string_view text);

// Parses bytes. KiB, MiB, GiB and TiB, also as K, M, G and T, are powers of 1024; kB, MB, GB and TB
// are powers of 1000. Throws Error for anything else, and for less than one byte.
std::int64_t parse_memory_size(std::string_view text);

// "kept": true; "new": false. Throws Error for anything else.
bool parse_workers(std::string_view text);

}  // namespace lockstep
