// Displays a run's progress: on a terminal as one line that is rewritten, and otherwise as plain
// lines.
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
  // Returns the utilisation of the devices, "2 GPUs 96% 95%", or an empty text if it is unknown.
  // Called at most once a second.
  std::function<std::string()> device_status{};
  std::function<void(const std::string&)> write{};  // receives printable text for stderr
  // Receives the progress as plain lines, without colours, even if `terminal` is true.
  std::function<void(const std::string&)> keep{};
};

// An example of the line, which is one line in the terminal:
//   epoch 2/3  step 1200/20000  loss 3.214  lr 5.9e-04  1.02M tok/s  MFU 41.3%  2 GPUs 96% 95%
//   data 0.3%  eta 2h41m
//
// Each evaluation, checkpoint, warning and resume gets its own line, and so does the end of the
// run. time_left.h estimates the remaining time. If the run's time quota will end before the run
// does, the line shows the time until then instead: "quota in 12m, before the end". If the
// remaining time is unknown, it shows "quota in 12m".
class Progress {
 public:
  Progress(ProgressOptions options, Clock& clock);
  ~Progress();
  // Takes each event of the run, in the order of events.jsonl. Needs these members of the "start"
  // event: step, total_steps, steps_per_epoch, unit, quota_s, eval_every_steps and eval_batches.
  void on_event(const nlohmann::json& event);
  void note(const std::string& text);  // prints a separate line
  void finish();                       // ends the rewritten line

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Returns, for example, "1.02M tok/s". A rate below 10 per second is also given per minute: "1.33
// samples/s (80/min)".
std::string format_rate(double per_second, const std::string& unit);

}  // namespace lockstep
