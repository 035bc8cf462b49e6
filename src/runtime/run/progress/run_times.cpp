#include "runtime/run/progress/run_times.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "runtime/run/events/json_lines.h"

namespace lockstep {

void RunTimes::on_step(const nlohmann::json& event) {
  const std::int64_t step = integer_or(event, "step", 0), count = step - step_;
  const double seconds = std::max(number_or(event, "step_s", 0), 0.0) *
                         static_cast<double>(std::max<std::int64_t>(count, 0));
  step_ = step;
  const double once_s = std::max(std::exchange(once_s_, 0), 0.0);
  if (std::exchange(is_first_window_, false)) {
    steps_ = {.seconds = std::max(seconds - once_s, 0.0),
              .count = std::max<std::int64_t>(count - 1, 0)};
    return;
  }
  steps_.seconds += std::max(seconds - once_s, 0.0);
  steps_.count += std::max<std::int64_t>(count, 0);
}

void RunTimes::on_event(const nlohmann::json& event) {
  const std::string kind = text_or(event, "kind", "");
  const double seconds = std::max(number_or(event, "seconds", 0), 0.0);
  if (kind == "start") {
    *this = RunTimes();
    step_ = integer_or(event, "step", 0);
    begin_time_ = number_or(event, "time", 0);
  }
  if (kind == "startup") {
    start_s_ = seconds;
    once_s_ += number_or(event, "time", 0) - begin_time_;
  }
  if (kind == "graph") once_s_ += seconds;
  if (kind == "step") on_step(event);
  if (kind == "eval") {
    // The warm-up of the first evaluation, in which kernels are loaded, happens only once.
    const double warm_up_s = std::clamp(number_or(event, "warm_up_s", 0), 0.0, seconds);
    if (start_s_ == 0) once_s_ -= seconds;  // the evaluation ran before the first step
    if (std::exchange(evaluation_was_given_up_, false)) evaluations_ = {};
    evaluations_.seconds += seconds - warm_up_s;
    ++evaluations_.count;
  }
  if (kind == "evaluation_given_up" && evaluations_.count == 0) {
    evaluation_was_given_up_ = true;
    evaluations_ = {.seconds = std::max(number_or(event, "expected_s", 0), 0.0), .count = 1};
  }
  if (kind == "checkpoint") {
    saves_.seconds += seconds;
    ++saves_.count;
  }
}

PartTimes RunTimes::mean() const {
  return {.start_s = start_s_,
          .step_s = steps_.mean(),
          .evaluation_s = evaluations_.mean(),
          .save_s = saves_.mean()};
}

}  // namespace lockstep
