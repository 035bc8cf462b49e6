#include "runtime/launch/world/store_message.h"

#include <cstring>

#include "core/base/error.h"
#include "core/base/text/text.h"

namespace lockstep {
namespace {

void check_size(std::uint64_t bytes) {
  if (bytes > most_message_bytes)
    throw Error(cat("a message to the ranks' store must be at most ",
                    format_bytes(most_message_bytes), ", but is ",
                    format_bytes(static_cast<double>(bytes))));
}

}  // namespace

MessageWriter& MessageWriter::number(std::int64_t number) {
  bytes_.append(reinterpret_cast<const char*>(&number), sizeof number);
  return *this;
}

MessageWriter& MessageWriter::text(std::string_view text) {
  number(static_cast<std::int64_t>(text.size()));
  bytes_ += text;
  return *this;
}

std::string MessageWriter::framed() const {
  const std::uint64_t size = bytes_.size();
  check_size(size);
  return std::string(reinterpret_cast<const char*>(&size), sizeof size) + bytes_;
}

std::int64_t MessageReader::number() {
  std::int64_t number = 0;
  if (rest_.size() < sizeof number) throw Error("a message of the ranks' store is cut off");
  std::memcpy(&number, rest_.data(), sizeof number);
  rest_.remove_prefix(sizeof number);
  return number;
}

std::string_view MessageReader::text() {
  const std::int64_t size = number();
  if (size < 0 || static_cast<std::uint64_t>(size) > rest_.size())
    throw Error("a message of the ranks' store is cut off");
  const std::string_view text = rest_.substr(0, static_cast<std::size_t>(size));
  rest_.remove_prefix(text.size());
  return text;
}

void MessageReader::end() const {
  if (!rest_.empty()) throw Error("a message of the ranks' store goes on after its end");
}

std::optional<std::size_t> message_bytes(std::string_view bytes) {
  std::uint64_t size = 0;
  if (bytes.size() < sizeof size) return std::nullopt;
  std::memcpy(&size, bytes.data(), sizeof size);
  check_size(size);
  return static_cast<std::size_t>(size);
}

}  // namespace lockstep
