// The address at which other hosts reach this one.
#pragma once

#include <string>

namespace lockstep {

// This host's address on the route to `host`, which may be this host. So it is right even if this
// host has several networks. Empty if there is no route. Also empty if the address is a loopback
// address, which other hosts cannot use. That is the case if this host resolves its own name `host`
// to loopback.
std::string address_towards(const std::string& host);

}  // namespace lockstep
