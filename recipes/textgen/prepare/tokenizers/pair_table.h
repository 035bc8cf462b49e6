// Computes the score of a baseline that predicts each byte from the byte before it. A trained model
// should beat this score.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace lockstep::textgen {

// Counts how often each byte follows each byte. Byte 0 stands before, between and after documents.
class PairCounts {
 public:
  PairCounts() : counts_(65536) {}
  // Adds a document, or a part of a document. starts, ends: whether the part has the document's
  // start and its end.
  void add(std::string_view text, bool starts, bool ends);
  void add(const PairCounts& other);
  std::uint64_t at(unsigned before, unsigned after) const { return counts_[before * 256 + after]; }

 private:
  std::vector<std::uint64_t> counts_;
};

// Returns the bits per byte of the validation text under p(b | a) = (count(a, b) + 4 p(b)) /
// (count(a) + 4). Counts are those of the training text. p(b) is the share of byte b in the
// training text, with 1 added to each count. As in the model's bits_per_byte, the bits of document
// ends are included, but no bytes for them. Returns 0 if there is no validation text.
double pair_bits_per_byte(const PairCounts& train, const PairCounts& valid);

}  // namespace lockstep::textgen
