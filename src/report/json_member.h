// Members of JSON that somebody else may have written.
#pragma once

#include <nlohmann/json.hpp>

namespace lockstep {

// The member of an object; null where there is none, or it is no object.
inline const nlohmann::json& member_or_null(const nlohmann::json& object, const char* key) {
  static const nlohmann::json nothing;
  if (!object.is_object()) return nothing;
  const auto found = object.find(key);
  return found == object.end() ? nothing : *found;
}

}  // namespace lockstep
