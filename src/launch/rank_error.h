// What a rank says about its own end: an event to the launcher, and so to people.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace lockstep {

struct RankError {
  std::string what;            // begins with the line that matters
  std::string hint{};          // may be empty
  std::string frames{};        // where in C++ it was thrown; empty unless asked for
  bool is_users = false;       // an Error: the user can mend it, so that starting again is no use
  bool out_of_memory = false;  // of the device or the host
};

// {"kind": "error", "what": …}. Long texts are cut, so that it fits into a pipe.
nlohmann::json to_json(const RankError& error);
// Nothing if the event is of another kind.
std::optional<RankError> rank_error(const nlohmann::json& event);

}  // namespace lockstep
