// Which of the computed features a model learns from.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "recipes/gbdt/features/features.h"

namespace lockstep::gbdt {

// Whether the feature is made of the volume. Without volume it is missing, or the same in all rows.
bool needs_volume(std::string_view feature);

// The same table with only these columns, in this order. Throws Error if one is not among
// those of the table.
FeatureTable choose_features(const FeatureTable& table, const std::vector<std::string>& names);

// The names of the table's columns that can be computed of the bars.
std::vector<std::string> features_of(const FeatureTable& table, const Bars& bars);

}  // namespace lockstep::gbdt
