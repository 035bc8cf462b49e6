#include "runtime/launch/world/listener.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>

#include "core/base/error.h"
#include "core/base/files/fd.h"
#include "core/base/text/text.h"

namespace lockstep {
namespace {

[[noreturn]] void fail(const char* call) {
  throw Error(cat("cannot open a socket on 127.0.0.1: ", call, ": ", errno_text(errno)),
              "is the loopback interface up (ip link show lo)?");
}

}  // namespace

int choose_free_loopback_port() {
  const UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) fail("socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* raw = reinterpret_cast<sockaddr*>(&address);
  if (::bind(socket.get(), raw, size) != 0) fail("bind");
  if (::getsockname(socket.get(), raw, &size) != 0) fail("getsockname");
  return ntohs(address.sin_port);
}

}  // namespace lockstep
