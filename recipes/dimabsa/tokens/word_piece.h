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

inline constexpr std::int64_t most_pieces = 2'000'000;  // upper limit for the size of a vocabulary

struct WordPieceSettings {
  std::vector<std::string> vocabulary;  // indexed by id; empty for an id without a piece
  Normalizer normalizer = BertNormalizer();
  WordRules words{.rules = {WordRule::bert}};
  std::string cls = "[CLS]", sep = "[SEP]", pad = "[PAD]", unknown = "[UNK]";
  std::string continuation = "##";  // prefix of pieces that do not begin a word
  std::size_t longest_word = 100;   // in characters; a longer word becomes `unknown`
  std::vector<AddedToken> added;    // found before the text is cut (added_tokens.h)
  std::string where;                // the name of the vocabulary's file, for messages
};

// Throws Error if the vocabulary is empty, lacks a special token, or contains a piece twice.
std::unique_ptr<Tokenizer> make_word_piece(WordPieceSettings settings);

}  // namespace lockstep::dimabsa
