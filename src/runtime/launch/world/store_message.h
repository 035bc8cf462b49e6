// The messages between a rank and the launcher's store. They consist of numbers, and of texts that
// are preceded by their length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lockstep {

enum class StoreRequest : std::int64_t {
  set,          // n, n times key and value; the answer is empty
  compare_set,  // key, expected, desired; answer: the value afterwards
  append,       // key, value; the answer is empty
  add,          // key, number; answer: the sum
  get,          // milliseconds, n, keys; answer: their values, once all exist
  wait,         // milliseconds, n, keys; the answer is empty, and comes once all exist
  check,        // n, keys; answer: whether all exist
  remove,       // key; answer: whether it existed
  count         // answer: the number of keys
};
// timed_out and refused are followed by the reason as text.
enum class StoreAnswer : std::int64_t { done, timed_out, refused };

constexpr std::size_t most_message_bytes = std::size_t{64} << 20;

// Not thread-safe.
class MessageWriter {
 public:
  MessageWriter& number(std::int64_t number);
  MessageWriter& text(std::string_view text);
  std::string framed() const;  // with its length in front; throws Error above most_message_bytes

 private:
  std::string bytes_;
};

// Reads a message without its length in front. Returned texts point into the message. Throws Error
// if the requested item is not there. Not thread-safe.
class MessageReader {
 public:
  explicit MessageReader(std::string_view message) : rest_(message) {}
  std::int64_t number();
  std::string_view text();
  void end() const;  // throws Error unless everything was read

 private:
  std::string_view rest_;
};

constexpr std::size_t frame_bytes = sizeof(std::uint64_t);
// The size of the message whose frame begins `bytes`. Nothing while the frame is incomplete. Throws
// Error above most_message_bytes.
std::optional<std::size_t> message_bytes(std::string_view bytes);

}  // namespace lockstep
