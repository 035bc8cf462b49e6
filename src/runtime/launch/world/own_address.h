// The address by which other hosts reach this one.
#pragma once

#include <string>

namespace lockstep {

// This host's address on the route to `host`, which may be this host. On a host with several
// networks this picks the right one. Empty if there is no route, or only a loopback address, which
// other hosts cannot use. Loopback is found if `host` is a name that stands for loopback on its own
// host.
std::string address_towards(const std::string& host);

}  // namespace lockstep
