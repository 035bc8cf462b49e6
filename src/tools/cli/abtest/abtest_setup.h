// The checked arguments of `lockstep abtest`.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/devices/device.h"
#include "tools/cli/abtest/abtest_trial.h"
#include "tools/cli/abtest/metric_pattern.h"
#include "tools/cli/arguments.h"
#include "tools/stats/verdict.h"

namespace lockstep::cli {

struct AbtestCommand {
  std::string text;
  std::vector<std::string> words;
};

struct AbtestSetup {
  AbtestCommand a, b;
  AbtestSpec trial{};
  std::optional<MetricPattern> metric{};  // if not set, the wall time is compared
  bool more_is_better = false;
  std::optional<double> fail_if_slower{};
  std::optional<double> timeout_s{};  // time limit for each run
  // GPUs that the commands may use. With several places (AbtestSpec::places), each place has one
  // GPU. With one place, each run has all GPUs.
  std::vector<Device> gpus{};
  bool sets_gpus = false;          // whether CUDA_VISIBLE_DEVICES is set for the commands
  std::filesystem::path folder{};  // folder of the record; empty until it is created

  const AbtestCommand& command(AbtestSide side) const { return side == AbtestSide::a ? a : b; }
  VerdictWords words() const;
};

// Parses and checks the arguments. Throws Error if they are invalid.
AbtestSetup abtest_setup(const Parsed& parsed);

}  // namespace lockstep::cli
