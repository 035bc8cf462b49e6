// Messages between a scheduler and its supervisor: JSON values over a stream socket.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace lockstep {

// Waits while the other side is slow. False if it is gone.
bool send_frame(int socket, const nlohmann::json& value);

// Takes bytes as they come and gives whole messages.
class FrameReader {
 public:
  enum class Read { more, nothing_now, ended };
  Read read(int socket);  // what there is, without waiting
  std::optional<nlohmann::json> next();

 private:
  std::string bytes_;
  std::size_t taken_ = 0;
};

}  // namespace lockstep
