// The address at which other hosts reach this one.
#pragma once

#include <string>

namespace lockstep {

// Returns the address that this host uses on the route to `host`, which may be this host itself.
// The route decides, because this host may have several networks. Empty if there is no route. Also
// empty if the only address is a loopback address, which other hosts cannot use. This happens if
// `host` is this host's own name, and its resolver maps that name to loopback.
std::string address_towards(const std::string& host);

}  // namespace lockstep
