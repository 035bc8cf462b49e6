// The user's text, as jsonl and as plain text. Reading it in small chunks must give the same text
// as reading it whole. A tokenizer must get only valid UTF-8.
#include <vector>

#include "core/base/text/utf8.h"
#include "recipes/textgen/prepare/chunks.h"
#include "source_text.h"

namespace lockstep::textgen {
namespace {

struct Document {
  std::string text;
  bool valid = false;
  friend bool operator==(const Document&, const Document&) = default;
};

// The documents; what an Error says, after those before it.
std::vector<Document> read(const SourceFile& file, Cut cut, std::size_t chunk_bytes) {
  const std::vector<SourceFile> files{file};
  const std::vector<Segment> segments{
      {.end = end_of_text, .role = file.jsonl ? Role::by_line : Role::train}};
  ChunkReader reader(files, segments, cut, chunk_bytes);
  std::vector<Document> documents;
  const auto take = [&](const Passage& passage) {
    LOCKSTEP_CHECK(invalid_bytes(passage.text) == 0);
    if (passage.starts_document) documents.emplace_back();
    LOCKSTEP_CHECK(!documents.empty());
    documents.back().text += passage.text;
    documents.back().valid = passage.valid;
  };
  try {
    for (Chunk chunk; reader.next(chunk);)
      for_each_passage(chunk, "text", 0.5, /*mend=*/true, take);
  } catch (const Error& error) {
    documents.push_back({error.what()});
  }
  return documents;
}

void check_stream(std::string_view text) {
  Utf8Stream stream;
  std::string whole;
  for (const char byte : text) whole += stream.push({&byte, 1});
  whole += stream.finish();
  LOCKSTEP_CHECK(whole == mend_utf8(text));
  LOCKSTEP_CHECK(invalid_bytes(whole) == 0);
}

}  // namespace
}  // namespace lockstep::textgen

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  using namespace lockstep::textgen;
  const std::string_view text = fuzz::text_of(data, size);
  SourceFile file = fuzz::source_file(text);
  for (const Cut cut : {Cut::character, Cut::space}) {
    const std::vector<Document> whole = read(file, cut, std::size_t{1} << 20);
    // A character that is not valid UTF-8 may be cut: then it is mended in two parts.
    if (invalid_bytes(text) == 0) LOCKSTEP_CHECK(read(file, cut, 7) == whole);
  }
  file.jsonl = true;
  LOCKSTEP_CHECK(read(file, Cut::line, 7) == read(file, Cut::line, std::size_t{1} << 20));
  check_stream(text);
  return 0;
}
