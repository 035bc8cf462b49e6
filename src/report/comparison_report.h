// A comparison, as `lockstep compare` wrote it, as a page: docs/reference/comparison.md lists what
// is in it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "report/page.h"

namespace lockstep {

// comparison: with "kind" = "comparison". What is missing or of another type is left out.
Page comparison_page(const nlohmann::json& comparison);

}  // namespace lockstep
