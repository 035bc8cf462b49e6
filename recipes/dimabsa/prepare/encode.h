// Sentences and queries as token ids.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "recipes/dimabsa/options/encoded.h"
#include "recipes/dimabsa/tokens/tokenizer.h"

namespace lockstep::dimabsa {

EncodedQueries make_queries(const Tokenizer& tokenizer, Task task);

// Oddities of sentences, for one warning each.
struct EncodeNotes {
  std::int64_t cut = 0;             // texts that were cut
  std::int64_t beyond_cut = 0;      // phrases that lie behind the cut
  std::int64_t without_pieces = 0;  // phrases of nothing but characters that are in no piece
  std::int64_t unknown = 0, pieces = 0;
};
// A line each; where: the file, for people.
std::vector<std::string> words_of(const EncodeNotes& notes, const std::string& where,
                                  std::int64_t cut);

class SentenceEncoder {
 public:
  // categories: of task 3, else empty; cut: pieces of a text at most. All outlive it.
  SentenceEncoder(const Tokenizer& tokenizer, const std::vector<std::string>& categories,
                  std::int64_t cut)
      : tokenizer_(tokenizer), categories_(categories), cut_(cut) {}

  // Phrases that are not in the text count as NULL.
  EncodedSentence encode(const Sentence& sentence, EncodeNotes& notes) const;

 private:
  // read: bytes of the text that were not cut off.
  static PieceSpan span_of(const EncodedSentence& encoded, const std::string& phrase,
                           std::int64_t read, EncodeNotes& notes);
  std::int64_t class_of(const std::string& category) const;

  const Tokenizer& tokenizer_;
  const std::vector<std::string>& categories_;
  std::int64_t cut_;
};

}  // namespace lockstep::dimabsa
