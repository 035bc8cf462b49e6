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
  std::optional<MetricPattern> metric{};  // nothing: wall time
  bool more_is_better = false;
  std::optional<double> fail_if_slower{};
  std::optional<double> timeout_s{};  // for each run
  // GPUs that the commands may use. If there are several places, each has one GPU; otherwise each
  // run has all.
  std::vector<Device> gpus{};
  bool sets_gpus = false;          // CUDA_VISIBLE_DEVICES is set for them
  std::filesystem::path folder{};  // of the record; empty until it is created

  const AbtestCommand& command(AbtestSide side) const { return side == AbtestSide::a ? a : b; }
  VerdictWords words() const;
};

// Throws Error.
AbtestSetup abtest_setup(const Parsed& parsed);

}  // namespace lockstep::cli
