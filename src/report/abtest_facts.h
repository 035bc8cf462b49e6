// The two sides of a trial that lockstep abtest left (docs/reference/abtest.md).
#pragma once

#include "report/facts.h"

#include <filesystem>
#include <optional>
#include <string>

namespace lockstep {

bool is_abtest_folder(const std::filesystem::path& folder);

struct AbtestSides {
  TrialGroup a, b;
  // What the trial itself was judged by; "" and nothing where the record does not say.
  std::string by;
  Scale scale = Scale::ratio;
  std::optional<double> margin, confidence;
};

// A trial per pair and side, in the order of the pairs: they belong together. What the commands did
// is their users' business, so that their work counts as equal. Throws Error where abtest.json is
// damaged, or of a later format.
AbtestSides read_abtest(const std::filesystem::path& folder);

}  // namespace lockstep
