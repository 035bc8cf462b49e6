// Decides how many samples a device takes at once, before a run and during it. No other code does.
//
// A run that continues on devices like those before keeps its micro-batch (resumed_batch.h).
// Otherwise a given batch.micro or batch.accumulation counts. Otherwise the micro-batch is the
// largest divisor of a rank's share of the global batch
//   with batch.micro = auto: up to what was tried out on these devices;
//   else: up to what fits by the recipe's formula, up to what the recipe prefers, and up to what
//   the run shrank to before. A measured peak replaces the formula's bytes a sample.
// With exact = true the micro-batch is the leaf instead, within the same limits. A micro-batch that
// the model requires (Facts::fixed_micro) takes precedence over all of that. memory.recompute then
// decides how many blocks are recomputed. If memory runs out during a run, it takes the next
// smaller divisor.
#pragma once

#include "planning/plan.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lockstep {

struct MicroBatch {
  BatchPlan batch;
  std::int64_t limit = 0;         // upper bound of the micro-batch, if it was chosen
  std::optional<ExactSum> exact;  // with exact = true
  MemoryEstimate memory;          // memory of one rank, including what was measured
  std::int64_t recomputed_blocks = 0;
  double needed_bytes = 0;  // of one rank
};

// whole: the recipe's formula, for a rank that shares nothing. Throws Error if the sizes are
// impossible, or if the part that no micro-batch can shrink exceeds a device's whole memory.
MicroBatch choose_micro_batch(const TrainOptions& options, const Facts& facts,
                              const MemoryEstimate& whole, const std::vector<Device>& devices,
                              const MeasuredMemory& measured);

// The plan's notes on its micro-batch: why it was chosen, and a warning if it does not fit. limit:
// MicroBatch::limit.
std::vector<std::string> micro_batch_notes(const Plan& plan, const TrainOptions& options,
                                           std::int64_t limit);

// For a new run. Throws Error, which names sizes that work, if the batch is far beyond the data or
// the devices' memory. A run that continues keeps its batch. has_data: the user said where the data
// lies.
void check_new_batch(const Plan& plan, const TrainOptions& options, bool has_data = false);

// For the case that not even `micro` samples fit. Says how much memory they need on a rank by the
// plan's estimate, and how much there is. Also says how much less they would need with other
// options. smaller_sample: the recipe's own advice, or "".
std::string memory_help(const Plan& plan, const TrainOptions& options, std::int64_t micro,
                        const std::string& smaller_sample = "");

// Whether a rank's share can be cut into micro-batches of `micro` rows. If samples have several
// rows, places may be left over, but no whole micro-batch.
bool fits_share(const BatchPlan& batch, std::int64_t micro);

// The rest is for use during a run.

// The same batch in micro-batches of `micro` rows, which must divide a rank's share. If samples
// have several rows, `micro` must only not exceed the share.
BatchPlan with_micro(BatchPlan batch, std::int64_t micro);

// When memory ran out: the next smaller micro-batch that a rank's share can be cut into. 0 if there
// is none, or if the model requires this one.
std::int64_t next_smaller_micro(const BatchPlan& batch);

// Once `step` steps are finished, micro-batches have `micro` samples.
struct MicroChange {
  std::int64_t step = 0, micro = 0;
  friend bool operator==(const MicroChange&, const MicroChange&) = default;
};

// batch.micro_changes: "120:8,300:4", steps rising; "" is none. Throws Error saying what is wrong.
std::vector<MicroChange> parse_micro_changes(const std::string& text);
std::string format_micro_changes(const std::vector<MicroChange>& changes);  // the inverse

}  // namespace lockstep
