// Texts as the encoder reads them: a query, "null" and the pieces of a sentence.
#pragma once

#include <cstdint>
#include <vector>

#include "recipes/dimabsa/options/encoded.h"

namespace lockstep::dimabsa {

// The question of a text, and its phrases.
struct Question {
  Pass pass = Pass::aspects;
  PieceSpan aspect, opinion;             // where the query names them
  std::vector<PieceSpan> left_out = {};  // pieces that the text lacks, but for those of the phrases
};

// [CLS] query [SEP] null pieces, in tokens and places as the encoder's table of positions counts
// them: pieces that are left out keep their places free.
struct TextTokens {
  std::vector<std::int64_t> tokens, positions;
  std::int64_t answer = 0;  // the first token of "null"; those from here on are segment 1
  std::int64_t nulls = 1;   // tokens of "null"; behind them the pieces

  std::int64_t size() const { return static_cast<std::int64_t>(tokens.size()); }
};

// At most `longest` tokens: the last pieces are left out of a text that would have more.
TextTokens make_text(const EncodedQueries& queries, const EncodedSentence& sentence,
                     const Question& question, std::int64_t longest);

// The tokens [first, last] of such a text in which a span's answer begins and ends.
PieceSpan tokens_of(const TextTokens& text, const PieceSpan& span);

// The question of a tuple. In C the spans of all other tuples are left out.
Question question_of(Pass pass, const std::vector<EncodedTuple>& tuples, std::size_t tuple);

}  // namespace lockstep::dimabsa
