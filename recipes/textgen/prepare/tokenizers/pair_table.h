// Computes the bits per byte of a baseline that predicts each byte from the byte before it. A
// trained model should need fewer bits.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace lockstep::textgen {

// Counts for each pair of bytes how often the second byte follows the first one. Byte 0 stands for
// the border of a document: before the first one, between documents, and after the last one.
class PairCounts {
 public:
  PairCounts() : counts_(65536) {}
  // Adds a document, or a part of a document. starts, ends: whether `text` contains the start and
  // the end of the document.
  void add(std::string_view text, bool starts, bool ends);
  void add(const PairCounts& other);
  std::uint64_t at(unsigned before, unsigned after) const { return counts_[before * 256 + after]; }

 private:
  std::vector<std::uint64_t> counts_;
};

// Returns the bits per byte of the validation text under the baseline. The baseline is p(b | a) =
// (count(a, b) + 4 p(b)) / (count(a) + 4), for byte b after byte a. Counts are those of the
// training text. p(b) is the share of byte b in the training text, with 1 added to each count. As
// in the model's metric bits_per_byte, the bits of the ends of documents are included, but these
// ends have no bytes. Returns 0 if there is no validation text.
double pair_bits_per_byte(const PairCounts& train, const PairCounts& valid);

}  // namespace lockstep::textgen
