// The address by which other hosts reach this one.
#pragma once

#include <string>

namespace lockstep {

// This host's address on the way to `host`, which may be itself. On a host with several networks
// this picks the right one. Empty if there is no way, or only one that other hosts lack: loopback,
// where `host` is a name that stands for it on its own host.
std::string address_towards(const std::string& host);

}  // namespace lockstep
