// A run's numbers for TensorBoard, written while it trains (log.tensorboard) and by `lockstep
// export`.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/beneath.h"
#include "base/fd.h"
#include "run/tensorboard_records.h"

namespace lockstep {

inline constexpr const char* tensorboard_folder = "tensorboard";

// What an event of kind "step" or "eval" says, under the names that docs/reference/run-directory.md
// lists: train/loss, eval/NAME, throughput/tokens_per_s. unit: of the "start" before it. Empty for
// others. What is null was not finite where it is a loss or a metric, else it was not measured and
// is left out.
std::vector<TensorboardScalar> scalars_of_event(const nlohmann::json& event,
                                                const std::string& unit);

// The name of a new event file: TensorBoard takes the files of a folder in the order of their
// names.
std::string tensorboard_file_name(double time, const std::string& host, int process, int number);

// Writes each event as it comes: a file per start, from whose first step on nothing of earlier
// files counts, so that TensorBoard drops what a resume took back. One thread at a time.
class TensorboardLog {
 public:
  explicit TensorboardLog(const std::filesystem::path& run_dir) : run_(run_dir) {}  // throws Error

  // event: with its "time". Returns what went wrong, once; nothing more is written then. Else "".
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
