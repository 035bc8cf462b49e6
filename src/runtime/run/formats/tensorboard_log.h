// A run's numbers for TensorBoard. They are written during training (log.tensorboard) and by
// `lockstep export`.
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
// kinds of events. unit: from the preceding "start" event. A loss or metric that is null was not
// finite and becomes NaN. Any other null was not measured and is left out.
std::vector<TensorboardScalar> scalars_of_event(const nlohmann::json& event,
                                                const std::string& unit);

// The name of a new event file. TensorBoard reads the files of a folder in the order of their
// names.
std::string tensorboard_file_name(double time, const std::string& host, int process, int number);

// Writes each event as it comes. There is one file per start. It invalidates values of earlier
// files from its first step on, so TensorBoard drops the steps that a resume repeats. Not
// thread-safe.
class TensorboardLog {
 public:
  explicit TensorboardLog(const std::filesystem::path& run_dir) : run_(run_dir) {}  // throws Error

  // event: with its "time". Returns an error message if writing fails, and an empty text otherwise.
  // After a failure, nothing more is written.
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
