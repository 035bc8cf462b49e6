#include "recipes/gbdt/features/choose_features.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/text/text.h"

namespace lockstep::gbdt {

bool needs_volume(std::string_view feature) {
  return feature.starts_with("vwap") || feature.starts_with("obv");
}

FeatureTable choose_features(const FeatureTable& table, const std::vector<std::string>& names) {
  if (names == table.names) return table;
  std::vector<std::size_t> places;
  for (const std::string& name : names) {
    const auto found = std::find(table.names.begin(), table.names.end(), name);
    if (found == table.names.end())
      throw Error(cat("the feature ", name, " is not among those that are computed of prices"));
    places.push_back(static_cast<std::size_t>(found - table.names.begin()));
  }
  FeatureTable chosen{
      .names = names, .values = {}, .warm_up = table.warm_up, .takes_missing = table.takes_missing};
  chosen.values.reserve(table.rows() * names.size());
  for (std::size_t row = 0; row < table.rows(); ++row)
    for (const std::size_t place : places) chosen.values.push_back(table.row(row)[place]);
  return chosen;
}

std::vector<std::string> features_of(const FeatureTable& table, const Bars& bars) {
  std::vector<std::string> names;
  for (const std::string& name : table.names)
    if (bars.has_volume || !needs_volume(name)) names.push_back(name);
  return names;
}

}  // namespace lockstep::gbdt
