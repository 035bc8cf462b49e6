// Texts as the encoder reads them: a query, "null" and the pieces of a sentence.
#pragma once

#include <cstdint>
#include <vector>

#include "recipes/dimabsa/options/encoded.h"

namespace lockstep::dimabsa {

// The question that a text asks, and the phrases that its query names.
struct Question {
  Pass pass = Pass::aspects;
  PieceSpan aspect, opinion;             // the phrases that the query names
  std::vector<PieceSpan> left_out = {};  // pieces that the text lacks, except pieces of the phrases
};

// The tokens [CLS] query [SEP] null pieces. Positions are rows of the encoder's table of positions.
// Pieces that are left out keep their positions, which stay unused.
struct TextTokens {
  std::vector<std::int64_t> tokens, positions;
  std::int64_t answer = 0;  // the first token of "null"; from here on tokens are of segment 1
  std::int64_t nulls = 1;   // number of tokens of "null"; the pieces follow them

  std::int64_t size() const { return static_cast<std::int64_t>(tokens.size()); }
};

// At most `longest` tokens; the last pieces of a longer text are left out.
TextTokens make_text(const EncodedQueries& queries, const EncodedSentence& sentence,
                     const Question& question, std::int64_t longest);

// The tokens [first, last] of such a text that stand for a span.
PieceSpan tokens_of(const TextTokens& text, const PieceSpan& span);

// The question about a tuple. In pass C the spans of all other tuples are left out.
Question question_of(Pass pass, const std::vector<EncodedTuple>& tuples, std::size_t tuple);

}  // namespace lockstep::dimabsa
