#include "launch/listener.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>

#include "base/descriptors.h"
#include "base/error.h"
#include "base/text.h"

namespace lockstep {
namespace {

[[noreturn]] void fail(const char* call) {
  throw Error(cat("cannot open a socket on 127.0.0.1: ", call, ": ", errno_text(errno)),
              "is the loopback interface up (ip link show lo)?");
}

Listener bind_to_loopback() {
  Listener listener;
  listener.socket = above_stderr(UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)));
  if (!listener.socket) fail("socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* raw = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener.socket.get(), raw, size) != 0) fail("bind");
  if (::getsockname(listener.socket.get(), raw, &size) != 0) fail("getsockname");
  listener.port = ntohs(address.sin_port);
  return listener;
}

}  // namespace

Listener listen_on_loopback() {
  Listener listener = bind_to_loopback();
  if (::listen(listener.socket.get(), SOMAXCONN) != 0) fail("listen");
  return listener;
}

int choose_free_loopback_port() { return bind_to_loopback().port; }

}  // namespace lockstep
