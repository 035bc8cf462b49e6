// Writes a run's losses, metrics and rates for TensorBoard. Training does this if log.tensorboard
// is true, and so does `lockstep export`.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/base/files/beneath.h"
#include "core/base/files/fd.h"
#include "runtime/run/formats/tensorboard_records.h"

namespace lockstep {

inline constexpr const char* tensorboard_folder = "tensorboard";

// The values of a "step" or "eval" event, under the names listed in
// docs/reference/run-directory.md: train/loss, eval/NAME, throughput/tokens_per_s. Empty for other
// kinds of events. unit: the unit in the preceding "start" event. A loss or metric that is null in
// the event was not finite, and becomes NaN. Any other value that is null was not measured, and is
// left out.
std::vector<TensorboardScalar> scalars_of_event(const nlohmann::json& event,
                                                const std::string& unit);

// The name of a new event file. TensorBoard reads the files of a folder in the order of their
// names.
std::string tensorboard_file_name(double time, const std::string& host, int process, int number);

// Writes each event when it occurs. Each time the run begins or resumes, a new file begins. The new
// file invalidates the values of earlier files from its first step on. So TensorBoard drops the
// values of steps that are repeated. Not thread-safe.
class TensorboardLog {
 public:
  // throws Error if the run directory cannot be opened
  explicit TensorboardLog(const std::filesystem::path& run_dir) : run_(run_dir) {}

  // event: an event of the run, with its "time". Returns an error message if writing fails, and an
  // empty text otherwise. After a failure, nothing more is written.
  std::string write(const nlohmann::json& event);

 private:
  std::string begin(double time, std::int64_t step);
  std::string append(const std::string& records);

  Beneath run_;
  UniqueFd file_;
  std::string unit_ = "samples";
  bool broken_ = false;
};

}  // namespace lockstep
