// WordPiece as BERT uses it: words cut into the longest pieces of a vocabulary, from left to right.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "recipes/dimabsa/tokens/added_tokens.h"
#include "recipes/dimabsa/tokens/bert_normalizer.h"
#include "recipes/dimabsa/tokens/normalizers.h"
#include "recipes/dimabsa/tokens/tokenizer.h"
#include "recipes/dimabsa/tokens/words.h"

namespace lockstep::dimabsa {

inline constexpr std::int64_t most_pieces = 2'000'000;  // more than any vocabulary has

struct WordPieceSettings {
  std::vector<std::string> vocabulary;  // a piece's place is its id; "" if there is none
  Normalizer normalizer = BertNormalizer();
  WordRules words{.rules = {WordRule::bert}};
  std::string cls = "[CLS]", sep = "[SEP]", pad = "[PAD]", unknown = "[UNK]";
  std::string continuation = "##";  // before pieces that do not begin a word
  std::size_t longest_word = 100;   // characters; a longer word is unknown
  std::vector<AddedToken> added;    // found in the text as they are written
  std::string where;                // the vocabulary's file, for errors
};

// Throws Error if a token has no entry in the vocabulary, or if an entry occurs twice.
std::unique_ptr<Tokenizer> make_word_piece(WordPieceSettings settings);

}  // namespace lockstep::dimabsa
