// Sends and receives messages between a scheduler and its supervisor, over a stream socket. A
// message is a JSON value in CBOR form. Open files may be sent with a message.
#pragma once

#include <deque>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/files/fd.h"

namespace lockstep {

// Collects received bytes, and returns whole messages.
class FrameReader {
 public:
  enum class Read { more, nothing_now, ended };
  Read read(int socket);  // reads available bytes without waiting
  std::optional<nlohmann::json> next();
  // Takes the next `count` received files. A message must say how many files belong to it.
  std::vector<UniqueFd> take_files(std::size_t count);

 private:
  std::string bytes_;
  std::size_t taken_ = 0;
  std::deque<UniqueFd> files_;
};

// Sends a message and open files, and waits while the other side is slow. While this call waits,
// incoming messages are stored in `meanwhile`, unless it is null. Without `meanwhile`, two sides
// that both send could wait for each other for ever. Returns false if the other side is gone.
bool send_frame(int socket, const nlohmann::json& value, const std::vector<UniqueFd>& files = {},
                FrameReader* meanwhile = nullptr);

// Sends bytes and one open file without waiting. Returns false unless all bytes are sent.
bool send_with_file(int socket, std::string_view bytes, int file);
// Waits for more bytes, appends them to `bytes`, and stores a file that comes with them. Returns
// false if nothing more comes.
bool receive_with_file(int socket, std::string& bytes, UniqueFd& file);

}  // namespace lockstep
