// Where a server listens: an address of this machine and a port, as the user writes them.
#pragma once

#include <string>

namespace lockstep {

struct ListenAddress {
  std::string host = "127.0.0.1";  // numeric, IPv4 or IPv6 without brackets
  int port = 9400;                 // 0: one that is free

  bool loopback() const;     // reached from this machine only
  std::string text() const;  // "127.0.0.1:9400", "[::1]:9400"
};

// "127.0.0.1:9400", "[::1]:9400", "localhost:9400", ":9400", "9400", "127.0.0.1"; "" is the
// default. What is left out is of the default, never another address. Throws Error.
ListenAddress parse_listen_address(const std::string& text);

}  // namespace lockstep
