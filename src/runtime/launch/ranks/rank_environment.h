// The environment variables of a rank: inherited ones, the caller's (LaunchSpec), and those that
// describe the rank.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/launch/launch.h"

namespace lockstep {

struct Rendezvous {
  int port = 0;
  int store_fd = -1;      // StoreServer::door; -1 = none
  int events_fd = -1;     // the rank's LOCKSTEP_EVENTS_FD; -1 = none
  int heartbeat_fd = -1;  // -1 = none
};

std::map<std::string, std::string> this_environment();

// Returns all variables of one rank, as `launch` in launch.h lists them.
std::map<std::string, std::string> rank_environment(
    const LaunchSpec& spec, int rank, const Rendezvous& rendezvous,
    const std::map<std::string, std::string>& inherited);

std::vector<std::string> as_assignments(const std::map<std::string, std::string>& variables);

}  // namespace lockstep
