// Measures latency and speed of an all-reduce between the ranks.
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

// Measures `repeats` all-reduces of a buffer of about `bytes` on an idle device. Returns the
// seconds that each all-reduce takes on this rank. All ranks call it, and begin each all-reduce
// together. With one rank, returns an empty list.
std::vector<double> probe_all_reduce(ProcessGroup& group, Backend& backend, std::int64_t bytes,
                                     int repeats);

struct KnownLink {
  LinkSpeed speed;
  bool remembered = false;  // true if it was read from the cache instead of measured
};

// Returns latency and speed of an all-reduce over these ranks, the same on every rank. Rank 0 looks
// for the values in cache_file under `key`. If the file lacks them, the ranks measure them, which
// takes tens of milliseconds, and rank 0 stores them. If the cache cannot be read or written, the
// values are measured each time. All ranks call it, once. There must be at least two ranks.
KnownLink link_speed(ProcessGroup& group, Backend& backend, const std::filesystem::path& cache_file,
                     const std::string& key);

// Returns the result of link_speed for a run. The size of the run's buckets is derived from this
// speed. All ranks call it. Returns nothing in these cases:
//   - there is one rank, or the ranks are on CPUs
//   - reduce_bucket_mb sets the size of buckets
//   - deterministic or exact is true, so the size must not depend on a measurement
std::optional<KnownLink> measured_link(const TrainerSetup& setup);

}  // namespace lockstep
