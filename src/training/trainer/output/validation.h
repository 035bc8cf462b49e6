// Evaluates during training, and remembers the best evaluation so far.
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

// Compares the metric of each evaluation with the best one before. A value that is not finite is
// never the best.
class BestMetric {
 public:
  explicit BestMetric(std::string name) : name_(std::move(name)) {}  // checkpoint.best_metric
  BestSoFar so_far;
  bool improves(const std::vector<Metric>& metrics, std::int64_t step);
  const std::string& metric() const { return metric_; }  // the metric compared last; "": none yet

 private:
  std::string name_, metric_;
};

class Validation {
 public:
  // data: if null or empty, `run` does nothing. recorder: null on other ranks than 0. All arguments
  // outlive this object.
  Validation(const TrainerSetup& setup, PlacedModel& placed, const Optimizer& optimizer,
             std::shared_ptr<const Dataset> data, Recorder* recorder);

  bool due(std::int64_t step) const;  // false if it was already done
  // How an evaluation ended. given_up: it would have taken longer than the limit.
  struct Outcome {
    bool given_up = false;
    bool best = false;   // whether it is the best so far; only rank 0 knows
    double seconds = 0;  // the time that it took or would have taken; only rank 0 knows
  };
  // All ranks call it when all earlier steps are done. micro: the number of samples evaluated at
  // once, unless eval.batch is set. limit_s: the time that it may take. free_memory: see
  // EvaluatorOptions.
  Outcome run(std::int64_t step, std::int64_t micro, double limit_s,
              const std::function<void()>& free_memory);
  // Returns the metrics of the evaluation after this step; null: there was none.
  nlohmann::json metrics_of(std::int64_t step) const;
  BestSoFar& best() { return best_.so_far; }
  // Returns why the run ends early after the evaluations so far; empty: it does not. Only rank 0
  // knows.
  std::string out_of_patience() const;

 private:
  void keep_output(const EvaluationOutput& output, const Evaluation& evaluation, bool better);

  const TrainerSetup& setup_;
  PlacedModel& placed_;
  const Optimizer& optimizer_;
  std::shared_ptr<const Dataset> data_;
  Recorder* recorder_;
  std::int64_t batch_ = 0;  // batch that fitted; 0: the options decide
  std::int64_t step_ = -1;  // step of the last evaluation
  nlohmann::json metrics_;
  BestMetric best_;
};

}  // namespace lockstep
