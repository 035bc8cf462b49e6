// How fast the ranks add up a gradient when they do nothing else.
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

// Seconds of each of `repeats` all-reduces of one buffer of about `bytes`, as this rank sees them;
// all ranks begin together. All ranks call it. Nothing with one rank.
std::vector<double> probe_all_reduce(ProcessGroup& group, Backend& backend, std::int64_t bytes,
                                     int repeats);

struct KnownLink {
  LinkSpeed speed;
  bool remembered = false;  // not measured now
};

// Latency and speed of an all-reduce over these ranks, the same on every rank: out of rank 0's
// cache_file, under `key`, or measured (tens of milliseconds) and put there. A cache that cannot be
// read or written costs the measurement, nothing else. All ranks call it, at least two, once.
KnownLink link_speed(ProcessGroup& group, Backend& backend, const std::filesystem::path& cache_file,
                     const std::string& key);

// The same of a run, for the size of its buckets. All ranks. Nothing where reduce_bucket_mb gives
// that size, where it must not depend on a measurement, on one rank and on CPUs.
std::optional<KnownLink> measured_link(const TrainerSetup& setup);

}  // namespace lockstep
