// A tokenizer's files: GPT-2's vocab.json and merges.txt, and a tokenizer of characters. The input
// is merges, or a vocabulary or description, which begins with {, a NUL, and merges. An accepted
// tokenizer must keep to its vocabulary.
#include "fuzz.h"

#include <nlohmann/json.hpp>

#include "byte_vocabulary.h"
#include "core/base/files/files.h"
#include "recipes/textgen/prepare/tokenizers/tokenizer.h"

namespace lockstep::textgen {
namespace {

// A folder whose tokenizer.json is the input.
struct Kept {
  TemporaryDirectory folder;
  fuzz::MemoryFile description;
  Kept() { std::filesystem::create_symlink(description.path(), folder.path() / "tokenizer.json"); }
};

constexpr std::string_view sample = "the cat's 12 caf\xc3\xa9s\n\nthe the";

void check_tokenizer(const Tokenizer& tokenizer) {
  const std::int64_t vocabulary = tokenizer.vocabulary();
  LOCKSTEP_CHECK(tokenizer.separator() < vocabulary);
  LOCKSTEP_CHECK(tokenizer.pieces().size() == static_cast<std::size_t>(vocabulary));
  fuzz::accepts([&] {
    for (const std::uint32_t token : tokenizer.encode(sample)) LOCKSTEP_CHECK(token < vocabulary);
  });
}

// A byte-level vocabulary of the 256 bytes, in which every merge of two of them is a token.
std::string small_vocabulary() {
  nlohmann::json vocabulary = fuzz::byte_vocabulary();
  vocabulary.update({{"<|endoftext|>", 256}, {"th", 257}, {"the", 258}, {"\u0120the", 259}});
  return vocabulary.dump();
}

void check_merges(const std::string& vocabulary, const std::string& merges) {
  const auto tokenizer = make_gpt2_tokenizer(vocabulary, merges, "tokenizer");
  const Tokens tokens = tokenizer->encode(sample);
  for (const std::uint32_t token : tokens) LOCKSTEP_CHECK(token < tokenizer->vocabulary());
  LOCKSTEP_CHECK(tokenizer->decode(tokens) == sample);
}

}  // namespace
}  // namespace lockstep::textgen

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  using namespace lockstep::textgen;
  static const Kept kept;
  static const std::string vocabulary = small_vocabulary();
  std::string_view merges = fuzz::text_of(data, size);
  const std::string first(fuzz::take_part(merges, '\0'));
  if (!first.starts_with('{')) {
    fuzz::accepts([&] { check_merges(vocabulary, first); });
    return 0;
  }
  fuzz::accepts(
      [&] { check_tokenizer(*make_gpt2_tokenizer(first, std::string(merges), "tokenizer")); });
  kept.description.write(first);
  fuzz::accepts([&] { check_tokenizer(*load_tokenizer(kept.folder.path())); });
  return 0;
}
