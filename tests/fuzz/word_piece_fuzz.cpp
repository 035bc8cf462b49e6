// The files of a WordPiece tokenizer, and texts cut by it. The input is vocab.txt, or
// tokenizer.json, which begins with {, a NUL, tokenizer_config.json, a NUL, and the text. Without a
// vocabulary one is learned from the text. Each piece must be in the vocabulary, and begin and end
// between two characters. Pieces must follow the order of the text.
#include "fuzz.h"

#include <set>
#include <vector>

#include "core/base/text/utf8.h"
#include "recipes/dimabsa/tokens/bert_folder.h"
#include "recipes/dimabsa/tokens/sentence_piece/unigram_json.h"

namespace lockstep::dimabsa {
namespace {

std::set<std::size_t> borders(std::string_view text) {
  std::set<std::size_t> found = {0};
  for (std::size_t at = 0; at < text.size();)
    found.insert(at += next_code_point(text.substr(at)).length);
  return found;
}

void check_pieces(const Tokenizer& tokenizer, std::string_view text) {
  const std::int64_t vocabulary = tokenizer.vocabulary();
  for (const std::int64_t id :
       {tokenizer.cls(), tokenizer.sep(), tokenizer.pad(), tokenizer.unknown()})
    LOCKSTEP_CHECK(id >= 0 && id < vocabulary);
  const std::set<std::size_t> places = borders(text);
  std::uint32_t last = 0;
  bool begun = false;
  for (const Piece& piece : tokenizer.encode(text)) {
    LOCKSTEP_CHECK(piece.id >= 0 && piece.id < vocabulary);
    LOCKSTEP_CHECK(piece.begin < piece.end && piece.begin >= last);
    LOCKSTEP_CHECK(places.contains(piece.begin) && places.contains(piece.end));
    LOCKSTEP_CHECK(piece.begins_word || begun);
    last = piece.begin;
    begun = true;
  }
}

void read_unigram(const BertFiles& files) {
  const nlohmann::json tokenizer = object_of(files.tokenizer_json, "tokenizer.json");
  if (!is_unigram(tokenizer)) return;
  const nlohmann::json config = object_of(files.tokenizer_config, "tokenizer_config.json");
  LOCKSTEP_CHECK(!unigram_settings(tokenizer, config, "tokenizer.json").model.empty());
}

void check_learned(std::string_view text) {
  constexpr std::size_t size = 60;
  const std::vector<std::string> pieces =
      learn_word_pieces(split(std::string(text), '\n'), size, text.size() % 2 == 0);
  LOCKSTEP_CHECK(pieces.size() <= size);
  WordPieceSettings settings{.vocabulary = pieces, .where = "learned"};
  check_pieces(*make_word_piece(std::move(settings)), text);
}

}  // namespace
}  // namespace lockstep::dimabsa

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  using namespace lockstep::dimabsa;
  std::string_view text = fuzz::text_of(data, size);
  const std::string vocabulary(fuzz::take_part(text, '\0'));
  const std::string config(fuzz::take_part(text, '\0'));
  if (vocabulary.empty()) {
    fuzz::accepts([&] { check_learned(text); });
    return 0;
  }
  BertFiles files{.folder = "folder"};
  (vocabulary.starts_with('{') ? files.tokenizer_json : files.vocab_txt) = vocabulary;
  if (!config.empty()) files.tokenizer_config = config;
  fuzz::accepts([&] { read_unigram(files); });
  std::unique_ptr<Tokenizer> tokenizer;
  if (fuzz::accepts([&] { tokenizer = make_word_piece(word_piece_settings(files)); }))
    check_pieces(*tokenizer, text);
  return 0;
}
