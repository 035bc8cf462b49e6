// Chooses the computed features from which a model learns.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "recipes/gbdt/features/features.h"

namespace lockstep::gbdt {

// Whether the feature is computed from the volume. If all volumes are 0, such a feature is NaN or
// the same in all rows.
bool needs_volume(std::string_view feature);

// Returns the table with only the columns `names`, in this order. Throws Error if the table lacks
// one of them.
FeatureTable choose_features(const FeatureTable& table, const std::vector<std::string>& names);

// Returns the names of the table's columns, without those that need the volume if the bars have
// none.
std::vector<std::string> features_of(const FeatureTable& table, const Bars& bars);

}  // namespace lockstep::gbdt
