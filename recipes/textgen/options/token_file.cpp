// Reads a stream of tokens from a memory-mapped file.
#include "recipes/textgen/options/token_file.h"

#include <algorithm>
#include <cstring>

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/text/text.h"

namespace lockstep::textgen {

TokenFile::TokenFile(const std::filesystem::path& path) : file_(path) {
  TokenHeader header{};
  bool good = file_.size() >= sizeof header;
  if (good) {
    std::memcpy(&header, file_.data(), sizeof header);
    good =
        std::memcmp(header.magic, token_magic, sizeof token_magic) == 0 &&
        header.version == token_version && (header.width == 2 || header.width == 4) &&
        header.count >= 0 &&
        static_cast<std::uint64_t>(header.count) == (file_.size() - sizeof header) / header.width &&
        (file_.size() - sizeof header) % header.width == 0;
  }
  if (!good)
    throw Error(cat(path.string(), " is not a whole token file of this version"),
                "remove the folder it is in; it is prepared again");
  count_ = header.count;
  width_ = header.width;
}

template <class Out>
void TokenFile::copy_as(std::int64_t begin, std::int64_t count, Out* out) const {
  LOCKSTEP_CHECK(begin >= 0 && count >= 0 && count <= count_ && begin <= count_ - count);
  const std::byte* tokens = file_.data() + sizeof(TokenHeader);
  if (width_ == 2) {
    const auto* from = reinterpret_cast<const std::uint16_t*>(tokens) + begin;
    std::copy(from, from + count, out);
  } else {
    const auto* from = reinterpret_cast<const std::uint32_t*>(tokens) + begin;
    std::transform(from, from + count, out, [](std::uint32_t x) { return static_cast<Out>(x); });
  }
}

std::int64_t TokenFile::at(std::int64_t index) const {
  std::int64_t token = 0;
  copy_as(index, 1, &token);
  return token;
}

void TokenFile::copy(std::int64_t begin, std::int64_t count, std::int32_t* out) const {
  copy_as(begin, count, out);
}

void TokenFile::copy(std::int64_t begin, std::int64_t count, std::int64_t* out) const {
  copy_as(begin, count, out);
}

}  // namespace lockstep::textgen
