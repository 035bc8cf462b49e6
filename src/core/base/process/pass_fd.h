// Passes an open file to another process over a Unix socket.
#pragma once

#include <utility>

#include "core/base/files/fd.h"

namespace lockstep {

// Two connected sockets, close-on-exec.
std::pair<UniqueFd, UniqueFd> socket_pair();  // throws Error

void send_fd(int socket, int fd);  // throws Error

// The descriptor that was sent to this socket; empty if there is none. Does not wait.
UniqueFd receive_fd(int socket);

}  // namespace lockstep
