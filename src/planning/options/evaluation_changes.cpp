#include "planning/options/evaluation_changes.h"

#include "core/base/text/text.h"

#include <nlohmann/json.hpp>
#include <vector>

namespace lockstep {

namespace {

// The value as a user would type it.
std::string typed(const nlohmann::json& value) {
  std::string text;
  if (value.is_array())
    text = join(value.get<std::vector<std::string>>(), ",");
  else
    text = value.is_string() ? value.get<std::string>() : value.dump();
  return text.empty() ? "not set" : printable(text);
}

}  // namespace

std::string evaluation_changes(const OptionTable& recipe, const nlohmann::json& before) {
  const nlohmann::json now = recipe.to_json();
  std::vector<std::string> changes;
  for (const OptionInfo& option : recipe.options()) {
    const std::string& key = option.key;
    if (key.starts_with("evaluate.") && before.contains(key) && before[key] != now[key])
      changes.push_back(cat(key, "=", recipe.get(key), " (before: ", typed(before[key]), ")"));
  }
  return join(changes, ", ");
}

}  // namespace lockstep
