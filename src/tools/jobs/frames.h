// Messages between a scheduler and its supervisor: JSON values over a stream socket.
#pragma once

#include <deque>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/files/fd.h"

namespace lockstep {

// Collects bytes as they come, and returns whole messages.
class FrameReader {
 public:
  enum class Read { more, nothing_now, ended };
  Read read(int socket);  // reads available bytes, without waiting
  std::optional<nlohmann::json> next();
  // Takes the next received files; a message must say how many belong to it.
  std::vector<UniqueFd> take_files(std::size_t count);

 private:
  std::string bytes_;
  std::size_t taken_ = 0;
  std::deque<UniqueFd> files_;
};

// Sends a message, and waits while the other side is slow. Open files travel with it. With a
// reader, it reads incoming messages meanwhile. Otherwise two sides that both send could wait for
// each other for ever. False if the other side is gone.
bool send_frame(int socket, const nlohmann::json& value, const std::vector<UniqueFd>& files = {},
                FrameReader* meanwhile = nullptr);

// Sends bytes and one open file, completely and without waiting. False if that is impossible.
bool send_with_file(int socket, std::string_view bytes, int file);
// Waits for more bytes, and for a file that may come with them. False if nothing more comes.
bool receive_with_file(int socket, std::string& bytes, UniqueFd& file);

}  // namespace lockstep
