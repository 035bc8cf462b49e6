#include "runtime/launch/world/own_address.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <memory>
#include <string_view>

#include "core/base/files/fd.h"

namespace lockstep {
namespace {

// Connecting a datagram socket sends nothing. It only makes the kernel choose a route.
std::string address_towards(const addrinfo& target) {
  const UniqueFd socket(::socket(target.ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  auto* const raw = reinterpret_cast<sockaddr*>(&own);
  if (!socket || ::connect(socket.get(), target.ai_addr, target.ai_addrlen) != 0) return "";
  if (::getsockname(socket.get(), raw, &size) != 0) return "";
  char text[NI_MAXHOST] = "";
  if (::getnameinfo(raw, size, text, sizeof text, nullptr, 0, NI_NUMERICHOST) != 0) return "";
  const std::string_view address = text;
  return address.starts_with("127.") || address == "::1" ? "" : text;
}

}  // namespace

std::string address_towards(const std::string& host) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_DGRAM;
  // The route does not depend on the port, but some systems refuse port 0.
  if (::getaddrinfo(host.c_str(), "9", &hints, &found) != 0) return "";
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, ::freeaddrinfo);
  for (const addrinfo* target = found; target != nullptr; target = target->ai_next)
    if (std::string address = address_towards(*target); !address.empty()) return address;
  return "";
}

}  // namespace lockstep
