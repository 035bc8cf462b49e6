// The WordPiece tokenizer of BERT. It cuts words into the longest pieces of a vocabulary, from left
// to right.
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

inline constexpr std::int64_t most_pieces = 2'000'000;  // an upper limit for vocabularies

struct WordPieceSettings {
  std::vector<std::string> vocabulary;  // by id; empty for ids without a piece
  Normalizer normalizer = BertNormalizer();
  WordRules words{.rules = {WordRule::bert}};
  std::string cls = "[CLS]", sep = "[SEP]", pad = "[PAD]", unknown = "[UNK]";
  std::string continuation = "##";  // prefix of pieces that do not begin a word
  std::size_t longest_word = 100;   // in characters; a longer word becomes `unknown`
  std::vector<AddedToken> added;    // found before text is cut (added_tokens.h)
  std::string where;                // the vocabulary's file, for messages
};

// Throws Error if a special token is not in the vocabulary, or if a piece occurs twice in it.
std::unique_ptr<Tokenizer> make_word_piece(WordPieceSettings settings);

}  // namespace lockstep::dimabsa
