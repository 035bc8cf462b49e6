// Which of this host's addresses others reach it by.
#pragma once

#include <string>

namespace lockstep {

// This host's address on the way to `host`, which may be itself: the one whose network is the right
// one, where a host has several. Empty if there is no way, or only one that other hosts have not:
// loopback, where `host` is a name that stands for it on its own host.
std::string address_towards(const std::string& host);

}  // namespace lockstep
