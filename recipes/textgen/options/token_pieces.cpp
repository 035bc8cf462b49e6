// Reads the bytes of each token from a file.
#include "recipes/textgen/options/token_pieces.h"

#include <cstring>

#include "core/base/error.h"
#include "core/base/text/text.h"

namespace lockstep::textgen {
namespace {

constexpr std::string_view magic = "LSPIECES";
constexpr std::uint32_t version = 1;
constexpr std::size_t header_bytes = 16;

void append(std::string& text, std::uint32_t value) {
  text.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::uint32_t read(const std::byte* data, std::size_t at) {
  std::uint32_t value;
  std::memcpy(&value, data + at, sizeof value);
  return value;
}

}  // namespace

TokenPieces::TokenPieces(const std::filesystem::path& path) : file_(path) {
  bool good = file_.size() >= header_bytes + 4 &&
              std::memcmp(file_.data(), magic.data(), magic.size()) == 0 &&
              read(file_.data(), 8) == version;
  if (good) {
    count_ = read(file_.data(), 12);
    const std::size_t table = header_bytes + 4 * (static_cast<std::size_t>(count_) + 1);
    good = file_.size() >= table && file_.size() == table + offset(count_) && offset(0) == 0;
    for (std::int64_t i = 0; good && i < count_; ++i) good = offset(i) <= offset(i + 1);
  }
  if (!good)
    throw Error(cat(path.string(), " is not a whole file of token pieces of this version"),
                "remove the folder it is in; it is prepared again");
}

std::uint32_t TokenPieces::offset(std::int64_t index) const {
  return read(file_.data(), header_bytes + 4 * static_cast<std::size_t>(index));
}

std::string_view TokenPieces::bytes(std::int64_t token) const {
  if (token < 0 || token >= count_) return {};
  const char* text = reinterpret_cast<const char*>(file_.data()) + header_bytes +
                     4 * (static_cast<std::size_t>(count_) + 1);
  return {text + offset(token), offset(token + 1) - offset(token)};
}

std::string encode_pieces(std::span<const std::string> pieces) {
  std::string text(magic);
  append(text, version);
  append(text, static_cast<std::uint32_t>(pieces.size()));
  std::uint32_t at = 0;
  append(text, at);
  for (const std::string& piece : pieces)
    append(text, at += static_cast<std::uint32_t>(piece.size()));
  for (const std::string& piece : pieces) text += piece;
  return text;
}

}  // namespace lockstep::textgen
