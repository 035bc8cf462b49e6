// Measured memory: the key under which a peak is recorded, and the search of batch.micro = auto.
// The search finds the largest micro-batch that fits with few tries. planning/batch/micro_batch
// uses the result.
#pragma once

#include "planning/run_setup.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

namespace lockstep {

// The key under which a peak is recorded. It holds everything that decides how much memory a rank
// needs: the recipe, its options, the engine's options, and the sizes of model and samples. It
// leaves out the options `predict.*` and those options of the engine that do not change memory.
// Only options that the .cpp file lists are left out, so a new option is part of the key. It also
// leaves out the batch, because each measurement names its micro-batch.
nlohmann::json memory_key(const RunSetup& setup);

// The batch with which a micro-batch of `micro` is tried. It accumulates over at most two
// micro-batches, which is enough to allocate the accumulation buffers.
BatchPlan batch_to_try(const BatchPlan& whole, std::int64_t micro);
// The bytes for exact sums that the whole batch needs in addition to those of the tried batch.
double bytes_not_tried(const Plan& tried, const BatchPlan& whole, std::int64_t parameters);

// The search for the largest micro-batch that fits. Memory grows about as fixed + per_sample *
// micro. So a try that fits predicts how large the micro-batch can be. The result depends only on
// what the tries measured.
class MicroSearch {
 public:
  // Uses the plan's batch and estimate. available_bytes: the bytes that may be used on the device
  // with the least memory.
  MicroSearch(const Plan& plan, double available_bytes);
  // The candidates are the micro-batches into which a rank's rows can be cut.
  MicroSearch(const BatchPlan& batch, double fixed_bytes, double available_bytes);
  // The candidates are the divisors of `share`, the samples of a rank in a step. first: the
  // micro-batch to try first, a guess. fixed_bytes: the bytes of a rank without any sample.
  // available_bytes: the bytes that may be used.
  MicroSearch(std::int64_t share, std::int64_t first, double fixed_bytes, double available_bytes);

  // The micro-batch to try next. Nothing if the search is over; largest() is then the result.
  std::optional<std::int64_t> next() const;
  // peak_bytes: the peak of the memory in use; nothing if memory ran out.
  void tried(std::int64_t micro, std::optional<double> peak_bytes);
  std::int64_t largest() const { return good_; }  // 0 = none fits
  double peak_bytes() const { return good_peak_; }

 private:
  std::vector<std::int64_t> divisors_;  // candidates, ascending
  std::int64_t first_;
  double fixed_bytes_, available_bytes_;
  // the largest that fits and the smallest that does not; 0 = none
  std::int64_t good_ = 0, bad_ = 0;
  double good_peak_ = 0;
  std::int64_t last_micro_ = 0;  // the micro-batch of the last measurement
  double last_peak_ = 0;
  std::optional<double> predicted_;  // predicted largest micro-batch that fits
};

}  // namespace lockstep
