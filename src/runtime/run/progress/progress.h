// Displays a run's events: as one rewritten line on a terminal, and otherwise as plain lines.
#pragma once

#include "core/base/clock.h"

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace lockstep {

struct ProgressOptions {
  // true: rewrites one line; false: prints a plain line every `plain_every_s`
  bool terminal = false;
  bool colour = false;
  int width = 80;
  double plain_every_s = 5;
  // Returns "2 GPUs 96% 95%", or an empty text if it is unknown. Called at most once a second.
  std::function<std::string()> device_status{};
  std::function<void(const std::string&)> write{};  // receives printable text for stderr
  // Receives the same text as plain lines, without colour and rewriting, with or without a
  // terminal.
  std::function<void(const std::string&)> keep{};
};

// epoch 2/3  step 1200/20000  loss 3.214  lr 5.9e-04  1.02M tok/s  MFU 41.3%  2 GPUs 96% 95% data
// 0.3%  eta 2h41m.
//
// Evaluations, checkpoints, warnings, resumes and the end get a line each. time_left.h estimates
// the remaining time. If the quota ends first, the line shows that instead: "quota in 12m, before
// the end".
class Progress {
 public:
  Progress(ProgressOptions options, Clock& clock);
  ~Progress();
  // Takes events as in events.jsonl. The "start" event has step, total_steps, steps_per_epoch,
  // unit, quota_s, eval_every_steps and eval_batches.
  void on_event(const nlohmann::json& event);
  void note(const std::string& text);  // prints a separate line
  void finish();                       // ends the rewritten line

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// "1.02M tok/s". Below 10 per second, also per minute: "1.33 samples/s (80/min)".
std::string format_rate(double per_second, const std::string& unit);

}  // namespace lockstep
