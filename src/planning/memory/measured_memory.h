// Measured memory: the key under which a peak is recorded, and the micro-batches that batch.micro =
// auto tries out. It finds the largest that fits with few tries. planning/batch/micro_batch decides
// what follows from it.
#pragma once

#include "planning/run_setup.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

namespace lockstep {

// The key of all that decides how much memory a rank takes. It holds the recipe with all its
// options but those of the group `predict`, the engine's options, and the facts of model and data
// that preparing found. It leaves out the engine's options that cost no memory. It also leaves out
// the sizes of the batch, because a measurement names its micro-batch. So a new option counts
// unless it is named in the source.
nlohmann::json memory_key(const RunSetup& setup);

// The batch of a try: `micro` samples and all buffers that accumulation keeps, but not all of its
// micro-batches.
BatchPlan batch_to_try(const BatchPlan& whole, std::int64_t micro);
// Bytes of exact sums that the whole accumulation keeps and the try of this plan does not.
double bytes_not_tried(const Plan& tried, const BatchPlan& whole, std::int64_t parameters);

// Memory grows with the micro-batch about as fixed + per_sample x micro. So a try that fits
// predicts how large the micro-batch can be. The outcome depends only on what the tries measured.
class MicroSearch {
 public:
  // Uses the plan's batch and estimate. available_bytes: those of the tightest device.
  MicroSearch(const Plan& plan, double available_bytes);
  // The same, with the sizes that the batch's rows can be cut into as candidates.
  MicroSearch(const BatchPlan& batch, double fixed_bytes, double available_bytes);
  // share: samples of a rank in a step, whose divisors are the candidates. first: a guess.
  // fixed_bytes: the bytes of a rank without any sample. available_bytes: the bytes that may be
  // used.
  MicroSearch(std::int64_t share, std::int64_t first, double fixed_bytes, double available_bytes);

  std::optional<std::int64_t> next() const;  // what to try; nothing: `largest` is the answer
  // peak_bytes: the most that was used; nothing if memory ran out.
  void tried(std::int64_t micro, std::optional<double> peak_bytes);
  std::int64_t largest() const { return good_; }  // that fits; 0: none
  double peak_bytes() const { return good_peak_; }

 private:
  std::vector<std::int64_t> divisors_;  // rising
  std::int64_t first_;
  double fixed_bytes_, available_bytes_;
  std::int64_t good_ = 0, bad_ = 0;  // the largest that fits, the smallest that does not (0: none)
  double good_peak_ = 0;
  std::int64_t last_micro_ = 0;  // measured last
  double last_peak_ = 0;
  std::optional<double> predicted_;  // prediction of the largest micro-batch that would fit
};

}  // namespace lockstep
