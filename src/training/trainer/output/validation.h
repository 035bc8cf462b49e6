// Evaluation during training, and which was the best so far.
#pragma once

#include "training/trainer/output/best_so_far.h"
#include "training/trainer/output/recorder.h"
#include "training/trainer/placed_model.h"
#include "training/trainer/trainer.h"
#include "training/update/optimizer.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace lockstep {

// The values of one evaluation, and whether none before was better. A value that is not finite is
// never the best.
class BestMetric {
 public:
  explicit BestMetric(std::string name) : name_(std::move(name)) {}  // checkpoint.best_metric
  BestSoFar so_far;
  bool improves(const std::vector<Metric>& metrics, std::int64_t step);
  const std::string& metric() const { return metric_; }  // that was compared last; "": none yet

 private:
  std::string name_, metric_;
};

class Validation {
 public:
  // data: null or empty: there is none, and `run` does nothing. recorder: null but on rank 0. All
  // outlive it.
  Validation(const TrainerSetup& setup, PlacedModel& placed, const Optimizer& optimizer,
             std::shared_ptr<const Dataset> data, Recorder* recorder);

  bool due(std::int64_t step) const;  // false where it was already
  // How an evaluation ended. given_up: it would have taken longer than it may.
  struct Outcome {
    bool given_up = false;
    bool best = false;   // so far; rank 0 knows
    double seconds = 0;  // that it took, or would have taken; rank 0 knows
  };
  // All ranks, the steps before having happened. micro: samples at once, unless eval.batch says.
  // limit_s: what it may take. free_memory: as EvaluatorOptions has it.
  Outcome run(std::int64_t step, std::int64_t micro, double limit_s,
              const std::function<void()>& free_memory);
  // The metrics of the evaluation after this step; null: there was none.
  nlohmann::json metrics_of(std::int64_t step) const;
  BestSoFar& best() { return best_.so_far; }
  // Why the run ends early after the evaluations so far; empty: it does not. Rank 0 knows.
  std::string out_of_patience() const;

 private:
  void keep_output(const EvaluationOutput& output, const Evaluation& evaluation, bool better);

  const TrainerSetup& setup_;
  PlacedModel& placed_;
  const Optimizer& optimizer_;
  std::shared_ptr<const Dataset> data_;
  Recorder* recorder_;
  std::int64_t batch_ = 0;  // that fitted; 0: as the options say
  std::int64_t step_ = -1;  // of the last
  nlohmann::json metrics_;
  BestMetric best_;
};

}  // namespace lockstep
