// Parses the values of a job's keys `gpus`, `gpu_memory` and `workers`.
#pragma once

#include <cstdint>
#include <string_view>

#include "tools/jobs/job.h"

namespace lockstep {

// Parses "0", "1", "2" …, "auto", or a share from "0.25" to below 1. Throws Error for anything
// else. A share below "0.25" is an error, because more than four jobs would share a device.
GpuRequest parse_gpus(std::string_view text);

// Parses "2GiB", "1.5 GB", "800M", a number of bytes, "measure" or "all". Throws Error for anything
// else.
GpuMemoryRequest parse_gpu_memory(std::string_view text);

// Parses a number of bytes. KiB, MiB, GiB and TiB are powers of 1024, and may be written K, M, G
// and T. kB, MB, GB and TB are powers of 1000. Throws Error for anything else, and for less than
// one byte.
std::int64_t parse_memory_size(std::string_view text);

// Returns true for "kept" and false for "new". Throws Error for anything else.
bool parse_workers(std::string_view text);

}  // namespace lockstep
