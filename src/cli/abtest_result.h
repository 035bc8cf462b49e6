// What a trial of two commands says: each quantity, the verdict, and what may have spoilt it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/abtest_setup.h"

namespace lockstep::cli {

struct AbtestRow {
  std::string key;   // in the record: "wall_s", "cpu_s", "peak_bytes", "metric"
  std::string name;  // for people
  Contrast contrast{};
  std::optional<Interval> bootstrap{};
};

// How busy others kept the machine meanwhile.
struct OthersLoad {
  std::optional<double> load_before{};   // load average
  std::optional<double> others_cores{};  // cores that others used on average
  int cores = 1;
};

struct AbtestResult {
  std::vector<AbtestRow> rows;  // the first is the one that decides
  std::vector<std::string> flags;
  std::string verdict;            // "slower", "inconclusive: would need about 40 pairs"
  std::optional<bool> is_slower;  // by more than --fail-if-slower; nothing: that is open

  const Contrast& main() const { return rows.front().contrast; }
};

AbtestResult abtest_result(const AbtestSetup& setup, const AbtestTrial& trial,
                           const OthersLoad& load);

}  // namespace lockstep::cli
