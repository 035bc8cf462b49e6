// Passes an open file to another process over a Unix socket.
#pragma once

#include <utility>

#include "core/base/files/fd.h"

namespace lockstep {

// Returns two connected sockets, close-on-exec.
std::pair<UniqueFd, UniqueFd> socket_pair();  // throws Error if that fails

// Sends a descriptor to the other end of the socket. Throws Error if that fails.
void send_fd(int socket, int fd);

// Returns the descriptor that the other end sent; empty if none has arrived. Does not wait.
UniqueFd receive_fd(int socket);

}  // namespace lockstep
