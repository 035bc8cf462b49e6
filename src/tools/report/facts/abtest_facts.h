// The two sides of a trial that lockstep abtest recorded (docs/reference/abtest.md).
#pragma once

#include "tools/report/facts/facts.h"

#include <filesystem>
#include <optional>
#include <string>

namespace lockstep {

bool is_abtest_folder(const std::filesystem::path& folder);

struct AbtestSides {
  TrialGroup a, b;
  // How the trial itself was judged; "" and nothing if the record does not say.
  std::string by;
  Scale scale = Scale::ratio;
  std::optional<double> margin, confidence;
};

// One Trial per pair and side, in the order of the pairs: trials at the same position belong
// together. The user decides what the commands compute, so their work counts as equal. Throws Error
// if abtest.json is damaged or of a later format.
AbtestSides read_abtest(const std::filesystem::path& folder);

}  // namespace lockstep
