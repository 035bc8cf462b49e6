// What a rank and the launcher's store send each other: numbers and texts behind their length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lockstep {

enum class StoreRequest : std::int64_t {
  set,          // n, n times key and value: nothing
  compare_set,  // key, expected, desired: the value afterwards
  append,       // key, value: nothing
  add,          // key, number: the sum
  get,          // milliseconds, n, keys: their values, once all are there
  wait,         // milliseconds, n, keys: nothing, once all are there
  check,        // n, keys: whether all are there
  remove,       // key: whether it was there
  count         // the number of keys
};
enum class StoreAnswer : std::int64_t { done, timed_out, refused };  // refused: why, as text

constexpr std::size_t most_message_bytes = std::size_t{64} << 20;

// Both are for one thread.
class MessageWriter {
 public:
  MessageWriter& number(std::int64_t number);
  MessageWriter& text(std::string_view text);
  std::string framed() const;  // with its length before it. Throws Error above most_message_bytes

 private:
  std::string bytes_;
};

// Of a message without its length; what it returns points into that. Throws Error where there is
// not what was asked for.
class MessageReader {
 public:
  explicit MessageReader(std::string_view message) : rest_(message) {}
  std::int64_t number();
  std::string_view text();
  void end() const;  // nothing is left

 private:
  std::string_view rest_;
};

constexpr std::size_t frame_bytes = sizeof(std::uint64_t);
// Of the message whose frame `bytes` begins with; nothing while that is not all there. Throws Error
// above most_message_bytes.
std::optional<std::size_t> message_bytes(std::string_view bytes);

}  // namespace lockstep
