#include "tools/monitor/serve/listen_address.h"

#include <arpa/inet.h>

#include <cstring>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "core/base/whole_number.h"

namespace lockstep {
namespace {

constexpr int highest_port = 65535;

[[noreturn]] void refuse(const std::string& text) {
  throw Error(cat("--serve: \"", text, "\" is not an address"),
              "write ADDRESS:PORT, such as 127.0.0.1:9400 or [::1]:9400, or only the port");
}

bool all_digits(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

int port_of(const std::string& port, const std::string& text) {
  if (!all_digits(port)) refuse(text);
  const auto number = whole_number<int>(port, 0, highest_port);
  if (!number) throw Error(cat("--serve: port must be at most ", highest_port, ", but is ", port));
  return *number;
}

bool is_ipv4(const std::string& host) {
  in_addr address{};
  return inet_pton(AF_INET, host.c_str(), &address) == 1;
}

bool is_ipv6(const std::string& host) {
  in6_addr address{};
  return inet_pton(AF_INET6, host.c_str(), &address) == 1;
}

}  // namespace

bool ListenAddress::loopback() const {
  if (is_ipv4(host)) return host.starts_with("127.");
  in6_addr address{};
  return inet_pton(AF_INET6, host.c_str(), &address) == 1 &&
         std::memcmp(&address, &in6addr_loopback, sizeof address) == 0;
}

std::string ListenAddress::text() const {
  return host.find(':') == host.npos ? cat(host, ":", port) : cat("[", host, "]:", port);
}

ListenAddress parse_listen_address(const std::string& text) {
  ListenAddress address;
  if (text.empty()) return address;
  std::string host, port;
  if (text[0] == '[') {
    const std::size_t end = text.find(']');
    if (end == text.npos || (end + 1 < text.size() && text[end + 1] != ':')) refuse(text);
    host = text.substr(1, end - 1);
    if (!is_ipv6(host)) refuse(text);
    if (end + 1 < text.size()) port = text.substr(end + 2);
    if (end + 1 < text.size() && port.empty()) refuse(text);
  } else if (all_digits(text)) {
    port = text;
  } else {
    const std::size_t colon = text.find(':');
    host = text.substr(0, colon);
    if (colon != text.npos) port = text.substr(colon + 1);
    if (colon != text.npos && port.empty()) refuse(text);
  }
  if (host == "localhost") host = address.host;
  if (!host.empty() && !is_ipv4(host) && !is_ipv6(host)) refuse(text);
  if (!host.empty()) address.host = host;
  if (!port.empty()) address.port = port_of(port, text);
  return address;
}

}  // namespace lockstep
