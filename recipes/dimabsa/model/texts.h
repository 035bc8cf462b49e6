// Builds the texts that the encoder reads. A text consists of a query, the word "null", and the
// pieces of a sentence. "null" is the answer if the sentence does not name the phrase.
#pragma once

#include <cstdint>
#include <vector>

#include "recipes/dimabsa/options/encoded.h"

namespace lockstep::dimabsa {

// The question that a text asks the model about a sentence. Its kind is a Pass (options/encoded.h).
struct Question {
  Pass pass = Pass::aspects;
  PieceSpan aspect, opinion;  // the phrases that the question names
  // Pieces to leave out. Pieces in `aspect` and `opinion` stay.
  std::vector<PieceSpan> left_out = {};
};

// The tokens of a text: [CLS], the query, [SEP], "null", and the pieces of the sentence. positions:
// the position of each token, for EncoderInput::positions. If pieces are left out, later pieces
// keep their positions, so there are gaps.
struct TextTokens {
  std::vector<std::int64_t> tokens, positions;
  std::int64_t answer = 0;  // index of the first token of "null"; segment 1 begins there
  std::int64_t nulls = 1;   // number of tokens of "null"

  std::int64_t size() const { return static_cast<std::int64_t>(tokens.size()); }
};

// Returns a text of at most `longest` tokens. If a text would be longer, the last pieces of the
// sentence are cut off.
TextTokens make_text(const EncodedQueries& queries, const EncodedSentence& sentence,
                     const Question& question, std::int64_t longest);

// Returns the indexes [first, last] of the tokens of a text that stand for a span.
// Question::left_out must not remove any piece before the end of the span. If the text was cut, the
// indexes may lie after its end.
PieceSpan tokens_of(const TextTokens& text, const PieceSpan& span);

// Returns the question of the kind `pass` about one tuple of a sentence. `tuple` is its index in
// `tuples`, which are all tuples of the sentence. In Pass::category, the spans of all other tuples
// are left out of the text.
Question question_of(Pass pass, const std::vector<EncodedTuple>& tuples, std::size_t tuple);

}  // namespace lockstep::dimabsa
