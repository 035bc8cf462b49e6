// The messages between a rank and the launcher's key-value store. They consist of numbers and
// texts. The length of each text precedes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lockstep {

// The contents of each request after its number, and the contents of its answer. n: how many keys
// follow. milliseconds: the timeout; 0 = none.
enum class StoreRequest : std::int64_t {
  set,          // n, then n times a key and a value; the answer is empty
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
  // The message with its length in front (the frame). Throws Error if it is longer than
  // most_message_bytes.
  std::string framed() const;

 private:
  std::string bytes_;
};

// Reads the items of a message in order. message: without its length in front; returned texts point
// into it. Throws Error if the message has no further item of the requested type. Not thread-safe.
class MessageReader {
 public:
  explicit MessageReader(std::string_view message) : rest_(message) {}
  std::int64_t number();
  std::string_view text();
  void end() const;  // throws Error if the message has items that were not read

 private:
  std::string_view rest_;
};

constexpr std::size_t frame_bytes = sizeof(std::uint64_t);
// Returns the size of a message from the frame at the start of `bytes`. Returns nothing if `bytes`
// has only a part of the frame. Throws Error if the size is above most_message_bytes.
std::optional<std::size_t> message_bytes(std::string_view bytes);

}  // namespace lockstep
