// Computes the result of a trial of two commands: each quantity, the verdict, and possible
// disturbances.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/cli/abtest/abtest_setup.h"

namespace lockstep::cli {

struct AbtestRow {
  std::string key;   // key in the record: "wall_s", "cpu_s", "peak_bytes", "metric"
  std::string name;  // name that is printed
  Contrast contrast{};
  std::optional<Interval> bootstrap{};
};

// The load that other programs caused on the machine.
struct OthersLoad {
  std::optional<double> load_before{};   // load average before the trial
  std::optional<double> others_cores{};  // mean number of cores that other programs used
  int cores = 1;
};

struct AbtestResult {
  std::vector<AbtestRow> rows;  // the first row decides the verdict
  std::vector<std::string> flags;
  std::string verdict;  // "slower", "inconclusive: would need about 40 pairs"
  // Whether B is slower by more than --fail-if-slower. Not set if the measurements do not decide
  // this, or if the flag is not given.
  std::optional<bool> is_slower;

  const Contrast& main() const { return rows.front().contrast; }
};

AbtestResult abtest_result(const AbtestSetup& setup, const AbtestTrial& trial,
                           const OthersLoad& load);

}  // namespace lockstep::cli
