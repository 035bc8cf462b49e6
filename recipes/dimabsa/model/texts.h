// Builds the texts that the encoder reads: a query, "null" and the pieces of a sentence.
#pragma once

#include <cstdint>
#include <vector>

#include "recipes/dimabsa/options/encoded.h"

namespace lockstep::dimabsa {

// The question that a text asks the model.
struct Question {
  Pass pass = Pass::aspects;
  PieceSpan aspect, opinion;             // the phrases that the question names
  std::vector<PieceSpan> left_out = {};  // pieces to leave out, except those of the phrases
};

// The tokens of a text: [CLS], the query, [SEP], "null", and the pieces. positions:
// EncoderInput::positions. The positions of pieces that are left out stay unused.
struct TextTokens {
  std::vector<std::int64_t> tokens, positions;
  std::int64_t answer = 0;  // index of the first token of "null", where segment 1 begins
  std::int64_t nulls = 1;   // number of tokens of "null"

  std::int64_t size() const { return static_cast<std::int64_t>(tokens.size()); }
};

// Returns a text of at most `longest` tokens. The last pieces of a longer text are left out.
TextTokens make_text(const EncodedQueries& queries, const EncodedSentence& sentence,
                     const Question& question, std::int64_t longest);

// Returns the tokens [first, last] of a text that stand for a span. No piece before the end of the
// span may be left out by Question::left_out. If the text was cut, the tokens may lie after its
// end.
PieceSpan tokens_of(const TextTokens& text, const PieceSpan& span);

// Returns the question that a pass asks about a tuple. In Pass::category, the spans of all other
// tuples are left out of the text.
Question question_of(Pass pass, const std::vector<EncodedTuple>& tuples, std::size_t tuple);

}  // namespace lockstep::dimabsa
