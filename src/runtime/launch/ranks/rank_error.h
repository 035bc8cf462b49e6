// A rank's report of its own failure, which it sends to the launcher as an event.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace lockstep {

struct RankError {
  std::string what;      // the message; its first line is the most important one
  std::string hint{};    // may be empty
  std::string frames{};  // the C++ stack at the throw; empty unless the user requested it
  // an exception of type Error: the user must fix the cause, so a restart does not help
  bool is_users = false;
  bool out_of_memory = false;  // memory of the device or of the host ran out
};

// Returns the event {"kind": "error", "what": …}. Long texts are cut, so that the event fits into a
// pipe.
nlohmann::json to_json(const RankError& error);
// Returns the report in an event. Nothing if its kind is not "error".
std::optional<RankError> rank_error(const nlohmann::json& event);

}  // namespace lockstep
