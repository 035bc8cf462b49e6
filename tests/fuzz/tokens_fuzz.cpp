// Prepared token files: the stream of tokens, and the bytes that each token stands for.
#include "fuzz.h"

#include <vector>

#include "recipes/textgen/options/token_file.h"
#include "recipes/textgen/options/token_pieces.h"

namespace lockstep::textgen {
namespace {

void read_tokens(const std::filesystem::path& path, std::size_t size) {
  const TokenFile file(path);
  LOCKSTEP_CHECK(file.size() >= 0 && static_cast<std::size_t>(file.size()) * 2 <= size);
  std::vector<std::int64_t> tokens(static_cast<std::size_t>(file.size()));
  file.copy(0, file.size(), tokens.data());
  for (const std::int64_t token : tokens) LOCKSTEP_CHECK(token >= 0 && token <= UINT32_MAX);
  if (file.size() > 0) LOCKSTEP_CHECK(file.at(file.size() - 1) == tokens.back());
}

void read_pieces(const std::filesystem::path& path, std::string_view content) {
  const TokenPieces pieces(path);
  LOCKSTEP_CHECK(static_cast<std::size_t>(pieces.size()) * 4 <= content.size());
  std::vector<std::string> all;
  for (std::int64_t token = 0; token < pieces.size(); ++token)
    all.emplace_back(pieces.bytes(token));
  LOCKSTEP_CHECK(pieces.bytes(-1).empty() && pieces.bytes(pieces.size()).empty());
  LOCKSTEP_CHECK(encode_pieces(all) == content);
}

}  // namespace
}  // namespace lockstep::textgen

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  static const fuzz::MemoryFile file;
  file.write(fuzz::text_of(data, size));
  fuzz::accepts([&] { textgen::read_tokens(file.path(), size); });
  fuzz::accepts([&] { textgen::read_pieces(file.path(), fuzz::text_of(data, size)); });
  return 0;
}
