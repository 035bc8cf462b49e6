// A rank's report about its own failure, sent as an event to the launcher.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace lockstep {

struct RankError {
  std::string what;            // begins with the most important line
  std::string hint{};          // may be empty
  std::string frames{};        // where in C++ it was thrown; empty unless the user requested it
  bool is_users = false;       // an Error, which the user must fix, so a restart does not help
  bool out_of_memory = false;  // the memory of the device or of the host
};

// {"kind": "error", "what": …}. Long texts are cut, so that the event fits into a pipe.
nlohmann::json to_json(const RankError& error);
// Nothing if the event has another kind.
std::optional<RankError> rank_error(const nlohmann::json& event);

}  // namespace lockstep
