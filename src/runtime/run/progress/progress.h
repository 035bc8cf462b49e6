// Renders a run's events for people: one rewritten line on a terminal, plain lines otherwise.
#pragma once

#include "core/base/clock.h"

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace lockstep {

struct ProgressOptions {
  bool terminal = false;  // rewrites one line; false: a plain line every `plain_every_s`
  bool colour = false;
  int width = 80;
  double plain_every_s = 5;
  // "2 GPUs 96% 95%", called at most once a second; empty if unknown.
  std::function<std::string()> device_status{};
  std::function<void(const std::string&)> write{};  // printable, to stderr
  // Takes the same text as plain lines, without colour or redrawing, whether there is a terminal or
  // not.
  std::function<void(const std::string&)> keep{};
};

// epoch 2/3  step 1200/20000  loss 3.214  lr 5.9e-04  1.02M tok/s  MFU 41.3%  2 GPUs 96% 95% data
// 0.3%  eta 2h41m.
//
// Evaluations, checkpoints, warnings, resumes and the end get a line each. The time left is the
// median step time of a window times the remaining steps, plus the share that evaluations and
// checkpoints took. If the quota ends first it says so ("quota in 12m, before the end").
class Progress {
 public:
  Progress(ProgressOptions options, Clock& clock);
  ~Progress();
  // Takes events as in events.jsonl. The "start" event carries total_steps, steps_per_epoch, unit,
  // units_per_step, quota_s.
  void on_event(const nlohmann::json& event);
  void note(const std::string& text);  // a line of its own
  void finish();                       // ends the rewritten line

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// "1.02M tok/s"; below 10 per second also per minute: "1.33 samples/s (80/min)".
std::string format_rate(double per_second, const std::string& unit);

}  // namespace lockstep
