#include "core/base/process/pass_fd.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "core/base/error.h"
#include "core/base/text/text.h"

namespace lockstep {
namespace {

// A message of one byte, with room for one descriptor.
struct Message {
  char byte = 'f';
  iovec data{.iov_base = &byte, .iov_len = 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr header{};

  Message() {
    header.msg_iov = &data;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = control.size();
  }
};

}  // namespace

std::pair<UniqueFd, UniqueFd> socket_pair() {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    throw Error(cat("could not make a socket: ", errno_text(errno)));
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

void send_fd(int socket, int fd) {
  Message message;
  cmsghdr* const part = CMSG_FIRSTHDR(&message.header);
  part->cmsg_level = SOL_SOCKET;
  part->cmsg_type = SCM_RIGHTS;
  part->cmsg_len = CMSG_LEN(sizeof fd);
  std::memcpy(CMSG_DATA(part), &fd, sizeof fd);
  while (sendmsg(socket, &message.header, MSG_NOSIGNAL) < 0)
    if (errno != EINTR) throw Error(cat("could not pass a file on: ", errno_text(errno)));
}

UniqueFd receive_fd(int socket) {
  Message message;
  ssize_t got;
  do {
    got = recvmsg(socket, &message.header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  const cmsghdr* const part = got > 0 ? CMSG_FIRSTHDR(&message.header) : nullptr;
  if (part == nullptr || part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
    return UniqueFd();
  int fd = -1;
  std::memcpy(&fd, CMSG_DATA(part), sizeof fd);
  return UniqueFd(fd);
}

}  // namespace lockstep
