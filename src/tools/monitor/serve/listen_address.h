// A server's address and port on this machine, as the user writes them.
#pragma once

#include <string>

namespace lockstep {

struct ListenAddress {
  std::string host = "127.0.0.1";  // numeric, IPv4 or IPv6 without brackets
  int port = 9400;                 // 0: any free port

  bool loopback() const;     // reachable from this machine only
  std::string text() const;  // "127.0.0.1:9400", "[::1]:9400"
};

// "127.0.0.1:9400", "[::1]:9400", "localhost:9400", ":9400", "9400", "127.0.0.1"; "" is the
// default. A missing part is the default's. Throws Error.
ListenAddress parse_listen_address(const std::string& text);

}  // namespace lockstep
