// The address and port at which a server listens on this machine.
#pragma once

#include <string>

namespace lockstep {

struct ListenAddress {
  std::string host = "127.0.0.1";  // numeric, IPv4 or IPv6 without brackets
  int port = 9400;                 // 0 for any free port

  bool loopback() const;     // whether the address is reachable only from this machine
  std::string text() const;  // "127.0.0.1:9400", "[::1]:9400"
};

// Parses "127.0.0.1:9400", "[::1]:9400", "localhost:9400", ":9400", "9400" or "127.0.0.1". A
// missing part has its default value, so "" gives the default address. Throws Error for any other
// text.
ListenAddress parse_listen_address(const std::string& text);

}  // namespace lockstep
