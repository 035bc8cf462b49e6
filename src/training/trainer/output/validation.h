// Evaluates the model during training, and remembers the best evaluation so far.
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

// Compares the metric of each evaluation with the best value so far. A value that is not finite is
// never the best.
class BestMetric {
 public:
  explicit BestMetric(std::string name) : name_(std::move(name)) {}  // checkpoint.best_metric
  BestSoFar so_far;
  bool improves(const std::vector<Metric>& metrics, std::int64_t step);
  // The name of the metric that was compared last, or "" before the first evaluation.
  const std::string& metric() const { return metric_; }

 private:
  std::string name_, metric_;
};

class Validation {
 public:
  // data: if it is null or empty, no evaluation is due. recorder: null on ranks other than 0. All
  // other arguments must outlive this object.
  Validation(const TrainerSetup& setup, PlacedModel& placed, const Optimizer& optimizer,
             std::shared_ptr<const Dataset> data, Recorder* recorder);

  // Whether `run` may be called at this step. False if there is no data, if this step was already
  // evaluated, or if setup.measure_only is true.
  bool due(std::int64_t step) const;
  // The outcome of an evaluation. `given_up` is true if the evaluation was given up, because it
  // would have taken longer than its limit.
  struct Outcome {
    bool given_up = false;
    bool best = false;  // whether this evaluation is the best so far; set on rank 0 only
    // Seconds that the evaluation took, or would have taken if it was given up. Ranks other than 0
    // have the value only if it was given up.
    double seconds = 0;
  };
  // Evaluates the model. All ranks call it when all earlier steps are done.
  //   micro: the number of rows per batch, unless eval.batch is set
  //   limit_s: the seconds that the evaluation may take; may be infinite
  //   free_memory: see EvaluatorOptions::free_memory
  Outcome run(std::int64_t step, std::int64_t micro, double limit_s,
              const std::function<void()>& free_memory);
  // Returns the metrics of the evaluation after this step, or null if this step was not the last
  // one evaluated.
  nlohmann::json metrics_of(std::int64_t step) const;
  BestSoFar& best() { return best_.so_far; }
  // Returns why the run should end early, or "" if it should not. Ranks other than 0 always get "".
  std::string out_of_patience() const;

 private:
  void keep_output(const EvaluationOutput& output, const Evaluation& evaluation, bool better);

  const TrainerSetup& setup_;
  PlacedModel& placed_;
  const Optimizer& optimizer_;
  std::shared_ptr<const Dataset> data_;
  Recorder* recorder_;
  std::int64_t batch_ = 0;  // rows per batch of the last evaluation; 0: none yet
  std::int64_t step_ = -1;  // step of the last evaluation; -1: none yet
  nlohmann::json metrics_;
  BestMetric best_;
};

}  // namespace lockstep
