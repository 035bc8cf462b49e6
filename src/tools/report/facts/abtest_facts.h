// Reads the two sides of a trial that lockstep abtest recorded (docs/reference/abtest.md).
#pragma once

#include "tools/report/facts/facts.h"

#include <filesystem>
#include <optional>
#include <string>

namespace lockstep {

bool is_abtest_folder(const std::filesystem::path& folder);

struct AbtestSides {
  TrialGroup a, b;
  // The rule by which the trial itself was judged. `by` is the quantity that decided. These members
  // are empty if the record lacks them.
  std::string by;
  Scale scale = Scale::ratio;
  std::optional<double> margin, confidence;
};

// Returns one Trial per pair and side, in the order of the pairs. So trials at the same position of
// both sides are a pair. The user decides what the commands compute, so their work is assumed to be
// equal. Throws Error if abtest.json is damaged, has a later format, or has no measured pair.
AbtestSides read_abtest(const std::filesystem::path& folder);

}  // namespace lockstep
