// A rank's report about its own end, sent as an event to the launcher.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace lockstep {

struct RankError {
  std::string what;            // begins with the most important line
  std::string hint{};          // may be empty
  std::string frames{};        // where in C++ it was thrown; empty unless asked for
  bool is_users = false;       // an Error: the user must fix it, so a restart is no use
  bool out_of_memory = false;  // of the device or the host
};

// {"kind": "error", "what": …}. Long texts are cut, so that the event fits into a pipe.
nlohmann::json to_json(const RankError& error);
// Nothing if the event has another kind.
std::optional<RankError> rank_error(const nlohmann::json& event);

}  // namespace lockstep
