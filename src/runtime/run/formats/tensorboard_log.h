// A run's numbers for TensorBoard, written during training (log.tensorboard) and by `lockstep
// export`.
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
// docs/reference/run-directory.md: train/loss, eval/NAME, throughput/tokens_per_s. unit: from the
// preceding "start" event. Empty for other kinds. A null loss or metric was not finite; any other
// null was not measured and is left out.
std::vector<TensorboardScalar> scalars_of_event(const nlohmann::json& event,
                                                const std::string& unit);

// The name of a new event file. TensorBoard reads a folder's files in the order of their names.
std::string tensorboard_file_name(double time, const std::string& host, int process, int number);

// Writes each event as it comes. There is a file per start, which invalidates earlier files from
// its first step on. So TensorBoard drops what a resume took back. One thread at a time.
class TensorboardLog {
 public:
  explicit TensorboardLog(const std::filesystem::path& run_dir) : run_(run_dir) {}  // throws Error

  // event: with its "time". Returns an error message once, and writes nothing more after that;
  // otherwise "".
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
