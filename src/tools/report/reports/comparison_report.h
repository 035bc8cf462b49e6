// Makes a page from a comparison that `lockstep compare` wrote; docs/reference/comparison.md lists
// its contents.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tools/report/pages/page.h"

namespace lockstep {

// comparison: an object with "kind" = "comparison". Members that are missing or have another type
// are left out.
Page comparison_page(const nlohmann::json& comparison);

}  // namespace lockstep
