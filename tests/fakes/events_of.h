// The events of one kind in a run's file of events.
#pragma once

#include "runtime/run/events/events.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace lockstep::testing {

inline std::vector<nlohmann::json> events_of(const std::filesystem::path& file,
                                             const std::string& kind) {
  std::vector<nlohmann::json> found;
  for (nlohmann::json& event : read_events(file))
    if (event.at("kind") == kind) found.push_back(std::move(event));
  return found;
}

}  // namespace lockstep::testing
