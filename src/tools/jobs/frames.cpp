#include "tools/jobs/frames.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/base/process/descriptors.h"

namespace lockstep {

namespace {

constexpr std::size_t most_files = 64;  // files in one message
const std::vector<int> no_files;

// Calls sendmsg once, with the files attached to the bytes.
ssize_t send_with_files(int socket, const char* bytes, std::size_t count,
                        const std::vector<int>& files) {
  iovec part{const_cast<char*>(bytes), count};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * most_files)]{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!files.empty()) {
    LOCKSTEP_CHECK(files.size() <= most_files);
    const std::size_t bytes_of_files = sizeof(int) * files.size();
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(bytes_of_files);
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(bytes_of_files);
    std::memcpy(CMSG_DATA(header), files.data(), bytes_of_files);
  }
  return ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

// Calls recvmsg once, and appends the received bytes and files.
ssize_t receive(int socket, int flags, std::string& bytes, std::deque<UniqueFd>& files) {
  char block[1 << 16];
  iovec part{block, sizeof block};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * most_files)];
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t got = ::recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC);
  if (got <= 0) return got;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    for (std::size_t at = 0; CMSG_LEN(at) < header->cmsg_len; at += sizeof(int)) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(header) + at, sizeof fd);
      files.push_back(above_stderr(UniqueFd(fd)));
    }
  }
  bytes.append(block, static_cast<std::size_t>(got));
  return got;
}

// Waits until the socket accepts more data, and reads from it meanwhile. Returns false if the other
// side is gone.
bool wait_to_send(int socket, FrameReader* meanwhile) {
  pollfd watched{socket, POLLOUT, 0};
  if (meanwhile != nullptr) watched.events |= POLLIN;
  if (::poll(&watched, 1, -1) < 0) return errno == EINTR;
  if (meanwhile == nullptr || (watched.revents & POLLIN) == 0) return true;
  return meanwhile->read(socket) != FrameReader::Read::ended;
}

}  // namespace

bool send_frame(int socket, const nlohmann::json& value, const std::vector<UniqueFd>& files,
                FrameReader* meanwhile) {
  std::vector<std::uint8_t> body = nlohmann::json::to_cbor(value);
  const auto length = static_cast<std::uint32_t>(body.size());
  std::string bytes(sizeof length + body.size(), '\0');
  std::memcpy(bytes.data(), &length, sizeof length);
  std::memcpy(bytes.data() + sizeof length, body.data(), body.size());
  std::vector<int> numbers;
  for (const UniqueFd& file : files) numbers.push_back(file.get());
  for (std::size_t sent = 0; sent < bytes.size();) {
    const ssize_t now = send_with_files(socket, bytes.data() + sent, bytes.size() - sent,
                                        sent == 0 ? numbers : no_files);
    const bool full = now < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
    if (full && !wait_to_send(socket, meanwhile)) return false;
    if (full || (now < 0 && errno == EINTR)) continue;
    if (now <= 0) return false;
    sent += static_cast<std::size_t>(now);
  }
  return true;
}

bool send_with_file(int socket, std::string_view bytes, int file) {
  const ssize_t sent = send_with_files(socket, bytes.data(), bytes.size(), {file});
  return sent == static_cast<ssize_t>(bytes.size());
}

bool receive_with_file(int socket, std::string& bytes, UniqueFd& file) {
  std::deque<UniqueFd> files;
  ssize_t got = 0;
  do got = receive(socket, 0, bytes, files);
  while (got < 0 && errno == EINTR);
  if (!files.empty()) file = std::move(files.front());
  return got > 0;
}

FrameReader::Read FrameReader::read(int socket) {
  const ssize_t got = receive(socket, MSG_DONTWAIT, bytes_, files_);
  if (got == 0) return Read::ended;
  if (got < 0) {
    const bool again = errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
    return again ? Read::nothing_now : Read::ended;
  }
  return Read::more;
}

std::vector<UniqueFd> FrameReader::take_files(std::size_t count) {
  std::vector<UniqueFd> taken;
  for (; count > 0 && !files_.empty(); --count) {
    taken.push_back(std::move(files_.front()));
    files_.pop_front();
  }
  return taken;
}

std::optional<nlohmann::json> FrameReader::next() {
  std::uint32_t length = 0;
  if (bytes_.size() - taken_ < sizeof length) return std::nullopt;
  std::memcpy(&length, bytes_.data() + taken_, sizeof length);
  if (bytes_.size() - taken_ - sizeof length < length) return std::nullopt;
  const auto first = bytes_.begin() + static_cast<std::ptrdiff_t>(taken_ + sizeof length);
  nlohmann::json value =
      nlohmann::json::from_cbor(first, first + static_cast<std::ptrdiff_t>(length));
  taken_ += sizeof length + length;
  if (taken_ == bytes_.size() || taken_ > (std::size_t{1} << 20)) {
    bytes_.erase(0, taken_);
    taken_ = 0;
  }
  return value;
}

}  // namespace lockstep
