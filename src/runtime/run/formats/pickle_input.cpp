#include "runtime/run/formats/pickle_input.h"

#include <algorithm>
#include <istream>

#include "core/base/error.h"

namespace lockstep {

std::string PickleInput::bytes(std::uint64_t count) {
  if (count > left_) throw Error("its pickle is longer than it may be");
  left_ -= count;
  std::string text;
  // A damaged length must not allocate memory for bytes that do not exist.
  constexpr std::uint64_t piece = 1 << 16;
  while (text.size() < count) {
    const std::size_t have = text.size();
    text.resize(have + std::min<std::uint64_t>(piece, count - have));
    if (!in_.read(text.data() + have, static_cast<std::streamsize>(text.size() - have)))
      throw Error("its pickle ends in the middle");
  }
  return text;
}

unsigned char PickleInput::byte() { return static_cast<unsigned char>(bytes(1)[0]); }

std::uint64_t PickleInput::number(int count) {
  const std::string raw = bytes(static_cast<std::uint64_t>(count));
  std::uint64_t value = 0;
  for (std::size_t i = raw.size(); i-- > 0;)
    value = value << 8 | static_cast<unsigned char>(raw[i]);
  return value;
}

std::string PickleInput::line() {
  std::string text;
  while (true) {
    const char letter = static_cast<char>(byte());
    if (letter == '\n') return text;
    text += letter;
  }
}

}  // namespace lockstep
