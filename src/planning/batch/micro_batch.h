// How many samples a device takes at once: the one place that decides it, before a run and in it.
//
// A run that goes on on such devices as before keeps its micro-batch (resumed_batch.h). Else
// batch.micro or batch.accumulation that are given stand. Else the micro-batch is the largest
// divisor of a rank's share of the global batch
//   up to what was tried out on these devices, with batch.micro = auto;
//   else up to what fits by the recipe's formula, in which a peak that was measured replaces the
//   bytes a sample, up to what the recipe prefers, and up to what the run shrank to before.
// With exact = true it is the leaf instead, within the same limits. A micro-batch that the model
// stands on (Facts::fixed_micro) goes before all of that. By memory.recompute follows
// how many blocks are computed again. In a run, memory that runs out takes the next smaller
// divisor.
#pragma once

#include "planning/plan.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lockstep {

struct MicroBatch {
  BatchPlan batch;
  std::int64_t limit = 0;         // that the micro-batch was chosen up to, where it was not given
  std::optional<ExactSum> exact;  // with exact = true
  MemoryEstimate memory;          // of one rank, with what was measured
  std::int64_t recomputed_blocks = 0;
  double needed_bytes = 0;  // of one rank
};

// whole: the recipe's formula, of a rank that shares nothing. Throws Error if the sizes cannot be,
// or if the part that no micro-batch can shrink exceeds a device's whole memory.
MicroBatch choose_micro_batch(const TrainOptions& options, const Facts& facts,
                              const MemoryEstimate& whole, const std::vector<Device>& devices,
                              const MeasuredMemory& measured);

// The plan's notes on it: why it was chosen, and a warning if it does not fit. limit: as chosen.
std::vector<std::string> micro_batch_notes(const Plan& plan, const TrainOptions& options,
                                           std::int64_t limit);

// For a new run, whose batch must not be far beyond its data or its devices' memory: throws Error
// naming sizes that work. A run that goes on keeps its batch. has_data: the user said where data
// lies.
void check_new_batch(const Plan& plan, const TrainOptions& options, bool has_data = false);

// Where not even `micro` samples fit: what they need on a rank by the plan's estimate, of what; and
// which options would need how much less. smaller_sample: the recipe's own advice, or "".
std::string memory_help(const Plan& plan, const TrainOptions& options, std::int64_t micro,
                        const std::string& smaller_sample = "");

// Whether a rank's share can be cut into micro-batches of so many rows. Rows of samples that have
// several may leave places over, but no whole micro-batch.
bool fits_share(const BatchPlan& batch, std::int64_t micro);

// In a run.

// The same batch in micro-batches of `micro` rows, which divides a rank's share; where samples have
// several rows it need only not exceed it.
BatchPlan with_micro(BatchPlan batch, std::int64_t micro);

// When memory ran out: the next smaller micro-batch that a rank's share can be cut into; 0 where
// there is none, or the model stands on this one.
std::int64_t next_smaller_micro(const BatchPlan& batch);

// From the step after `step` finished ones on, micro-batches of `micro` samples.
struct MicroChange {
  std::int64_t step = 0, micro = 0;
  friend bool operator==(const MicroChange&, const MicroChange&) = default;
};

// batch.micro_changes: "120:8,300:4", steps rising; "" is none. Throws Error saying what is wrong.
std::vector<MicroChange> parse_micro_changes(const std::string& text);
std::string format_micro_changes(const std::vector<MicroChange>& changes);  // the inverse

}  // namespace lockstep
