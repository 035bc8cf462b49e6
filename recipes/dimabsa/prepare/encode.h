// Turns sentences and queries into token ids.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "recipes/dimabsa/options/encoded.h"
#include "recipes/dimabsa/tokens/tokenizer.h"

namespace lockstep::dimabsa {

EncodedQueries make_queries(const Tokenizer& tokenizer, Task task);

// Counts of texts, phrases and pieces that may need a warning.
struct EncodeNotes {
  std::int64_t cut = 0;             // texts that were cut after data.cut pieces
  std::int64_t beyond_cut = 0;      // phrases in the part of a text that was cut off
  std::int64_t without_pieces = 0;  // phrases whose characters the tokenizer all drops
  std::int64_t unknown = 0, pieces = 0;
};
// Returns a warning for each count that is high enough. Each warning is one line of text. where:
// the name of the data, for messages. cut: the largest number of pieces of a text.
std::vector<std::string> words_of(const EncodeNotes& notes, const std::string& where,
                                  std::int64_t cut);

class SentenceEncoder {
 public:
  // categories: the list of categories in task 3, else empty. cut: the largest number of pieces of
  // a text. The references must outlive the encoder.
  SentenceEncoder(const Tokenizer& tokenizer, const std::vector<std::string>& categories,
                  std::int64_t cut)
      : tokenizer_(tokenizer), categories_(categories), cut_(cut) {}

  // Encodes a sentence, and adds to the counts in `notes`. Phrases that are not in the text, or not
  // before the cut, become NULL.
  EncodedSentence encode(const Sentence& sentence, EncodeNotes& notes) const;

 private:
  // Returns the pieces of a phrase in the text. read: the number of bytes of the text before the
  // cut.
  static PieceSpan span_of(const EncodedSentence& encoded, const std::string& phrase,
                           std::int64_t read, EncodeNotes& notes);
  std::int64_t class_of(const std::string& category) const;

  const Tokenizer& tokenizer_;
  const std::vector<std::string>& categories_;
  std::int64_t cut_;
};

}  // namespace lockstep::dimabsa
