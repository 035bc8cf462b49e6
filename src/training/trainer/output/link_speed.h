// Measures how fast the ranks all-reduce a buffer when they do nothing else.
#pragma once

#include "backends/backend.h"
#include "planning/batch/buckets.h"
#include "training/distributed/process_group.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace lockstep {

struct TrainerSetup;

// Returns the seconds of each of `repeats` all-reduces of one buffer of about `bytes`, as this rank
// measures them. All ranks call it, and begin each all-reduce together. Returns nothing with one
// rank.
std::vector<double> probe_all_reduce(ProcessGroup& group, Backend& backend, std::int64_t bytes,
                                     int repeats);

struct KnownLink {
  LinkSpeed speed;
  bool remembered = false;  // from the cache, not measured now
};

// Returns latency and speed of an all-reduce over these ranks, the same on every rank. The values
// come from rank 0's cache_file, under `key`. If it lacks them, they are measured (tens of
// milliseconds) and stored there. If the cache cannot be read or written, the only cost is the
// measurement. All ranks call it, once. There must be at least two ranks.
KnownLink link_speed(ProcessGroup& group, Backend& backend, const std::filesystem::path& cache_file,
                     const std::string& key);

// All ranks call it. Returns link_speed for a run, which determines the size of its buckets.
// Returns nothing if reduce_bucket_mb gives that size, if the size must not depend on a
// measurement, with one rank, and on CPUs.
std::optional<KnownLink> measured_link(const TrainerSetup& setup);

}  // namespace lockstep
