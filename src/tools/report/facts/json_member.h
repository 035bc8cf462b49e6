// Reads members of JSON that other programs may have written.
#pragma once

#include <nlohmann/json.hpp>

namespace lockstep {

// Returns the member of an object. Returns null if it is missing, or if `object` is not an object.
inline const nlohmann::json& member_or_null(const nlohmann::json& object, const char* key) {
  static const nlohmann::json nothing;
  if (!object.is_object()) return nothing;
  const auto found = object.find(key);
  return found == object.end() ? nothing : *found;
}

}  // namespace lockstep
