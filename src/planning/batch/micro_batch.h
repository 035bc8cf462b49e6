// Chooses the micro-batch before a run and changes it during the run. No other code does this.
//
// The first of these rules that applies gives the micro-batch:
// - the micro-batch that the model requires (Facts::fixed_micro)
// - norm.rows divided by the number of ranks
// - for a resumed run, the micro-batch that it keeps (resumed_batch.h)
// - batch.micro, or the micro-batch that follows from batch.accumulation
// - with exact = true, the number of samples of a leaf (exact_sum.h)
// - the largest divisor of a rank's share of the global batch, up to a limit
//
// With batch.micro = auto, the limit is the largest micro-batch that was tried out on these
// devices. If no micro-batch was tried out, or without auto, three limits apply: the memory by the
// recipe's formula, the recipe's preference, and the micro-batch to which the run shrank before.
// The limit also applies to the number of samples of a leaf. A measured peak replaces
// per_sample_bytes of the formula.
//
// After the micro-batch is chosen, memory.recompute decides how many blocks are recomputed. If
// memory runs out during a run, the run changes to the next smaller divisor.
#pragma once

#include "planning/plan.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lockstep {

struct MicroBatch {
  BatchPlan batch;
  std::int64_t limit = 0;         // upper bound of a micro-batch that the plan chooses
  std::optional<ExactSum> exact;  // set if exact = true
  MemoryEstimate memory;          // memory of one rank, with measured values
  std::int64_t recomputed_blocks = 0;
  double needed_bytes = 0;  // bytes that one rank needs
};

// whole: the estimate of the recipe's formula without shard_optimizer. Throws Error if the sizes
// are impossible, or if the fixed part of the memory alone exceeds a device's memory.
MicroBatch choose_micro_batch(const TrainOptions& options, const Facts& facts,
                              const MemoryEstimate& whole, const std::vector<Device>& devices,
                              const MeasuredMemory& measured);

// The plan's notes on its micro-batch: the reason for it, and a warning if it does not fit. limit:
// MicroBatch::limit.
std::vector<std::string> micro_batch_notes(const Plan& plan, const TrainOptions& options,
                                           std::int64_t limit);

// Checks a new run; a resumed run keeps its batch. Throws Error if a batch that was set is larger
// than the data, or if the memory need is several times the devices' memory. The error names sizes
// that work. has_data: whether the user named the data.
void check_new_batch(const Plan& plan, const TrainOptions& options, bool has_data = false);

// The message for a run in which not even `micro` samples fit. It reports how much memory a rank
// needs for them by the plan's estimate, how much a rank has, and how much other options would
// save. smaller_sample: the recipe's own advice, or empty.
std::string memory_help(const Plan& plan, const TrainOptions& options, std::int64_t micro,
                        const std::string& smaller_sample = "");

// Whether a rank's share can be cut into micro-batches of `micro` rows. If samples have several
// rows, the last micro-batch may be partly padding.
bool fits_share(const BatchPlan& batch, std::int64_t micro);

// The functions below are used during a run.

// The same batch in micro-batches of `micro` rows, which must divide a rank's share. If samples
// have several rows, it is enough that `micro` does not exceed the share.
BatchPlan with_micro(BatchPlan batch, std::int64_t micro);

// The next smaller micro-batch into which a rank's share can be cut, for use when memory runs out.
// 0 if no smaller one exists. Also 0 if the model requires the present micro-batch, or if
// statistics of batch norm span ranks.
std::int64_t next_smaller_micro(const BatchPlan& batch);

// After `step` finished steps, micro-batches have `micro` samples.
struct MicroChange {
  std::int64_t step = 0, micro = 0;
  friend bool operator==(const MicroChange&, const MicroChange&) = default;
};

// Reads batch.micro_changes, such as "120:8,300:4". Steps must rise. An empty text gives no
// changes. Throws Error that names the fault.
std::vector<MicroChange> parse_micro_changes(const std::string& text);
std::string format_micro_changes(const std::vector<MicroChange>& changes);  // the inverse

}  // namespace lockstep
