#include "jobs/frames.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <vector>

namespace lockstep {

bool send_frame(int socket, const nlohmann::json& value) {
  std::vector<std::uint8_t> body = nlohmann::json::to_cbor(value);
  const auto length = static_cast<std::uint32_t>(body.size());
  std::string bytes(sizeof length + body.size(), '\0');
  std::memcpy(bytes.data(), &length, sizeof length);
  std::memcpy(bytes.data() + sizeof length, body.data(), body.size());
  for (std::size_t sent = 0; sent < bytes.size();) {
    const ssize_t now = ::send(socket, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (now < 0 && errno == EINTR) continue;
    if (now <= 0) return false;
    sent += static_cast<std::size_t>(now);
  }
  return true;
}

FrameReader::Read FrameReader::read(int socket) {
  char block[1 << 16];
  const ssize_t got = ::recv(socket, block, sizeof block, MSG_DONTWAIT);
  if (got == 0) return Read::ended;
  if (got < 0) {
    const bool again = errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
    return again ? Read::nothing_now : Read::ended;
  }
  bytes_.append(block, static_cast<std::size_t>(got));
  return Read::more;
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
