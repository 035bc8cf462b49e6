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

// Counts of irregularities in sentences. Each count above 0 gives one warning.
struct EncodeNotes {
  std::int64_t cut = 0;             // texts that were cut
  std::int64_t beyond_cut = 0;      // phrases behind the place where their text was cut
  std::int64_t without_pieces = 0;  // phrases whose characters are all in no piece
  std::int64_t unknown = 0, pieces = 0;
};
// One warning per line. where: the file, for people.
std::vector<std::string> words_of(const EncodeNotes& notes, const std::string& where,
                                  std::int64_t cut);

class SentenceEncoder {
 public:
  // categories: those of task 3, else empty. cut: most pieces of a text. The references must
  // outlive it.
  SentenceEncoder(const Tokenizer& tokenizer, const std::vector<std::string>& categories,
                  std::int64_t cut)
      : tokenizer_(tokenizer), categories_(categories), cut_(cut) {}

  // Phrases that are not in the text count as NULL.
  EncodedSentence encode(const Sentence& sentence, EncodeNotes& notes) const;

 private:
  // read: number of bytes of the text before the cut.
  static PieceSpan span_of(const EncodedSentence& encoded, const std::string& phrase,
                           std::int64_t read, EncodeNotes& notes);
  std::int64_t class_of(const std::string& category) const;

  const Tokenizer& tokenizer_;
  const std::vector<std::string>& categories_;
  std::int64_t cut_;
};

}  // namespace lockstep::dimabsa
