// Messages between a scheduler and its supervisor: JSON values over a stream socket.
#pragma once

#include <deque>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"

namespace lockstep {

// Takes bytes as they come and gives whole messages.
class FrameReader {
 public:
  enum class Read { more, nothing_now, ended };
  Read read(int socket);  // what there is, without waiting
  std::optional<nlohmann::json> next();
  // The next ones that came; a message must say how many are its own.
  std::vector<UniqueFd> take_files(std::size_t count);

 private:
  std::string bytes_;
  std::size_t taken_ = 0;
  std::deque<UniqueFd> files_;
};

// Waits while the other side is slow, and reads meanwhile what it says, if there is a reader: two
// that only sent to each other would wait for ever. False if it is gone. Open files travel with the
// message.
bool send_frame(int socket, const nlohmann::json& value, const std::vector<UniqueFd>& files = {},
                FrameReader* meanwhile = nullptr);

// Bytes with one open file, as a whole and without waiting. False where that cannot be.
bool send_with_file(int socket, std::string_view bytes, int file);
// Waits for more of them, and the file that may come beside. False: nothing comes any more.
bool receive_with_file(int socket, std::string& bytes, UniqueFd& file);

}  // namespace lockstep
