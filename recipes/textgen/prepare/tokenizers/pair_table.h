// The baseline that a trained model must beat: a table of byte pairs.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace lockstep::textgen {

// Counts how often each byte follows each other byte. Byte 0 stands before and between documents.
class PairCounts {
 public:
  PairCounts() : counts_(65536) {}
  // Adds a document, or a part of one that starts or ends in the middle of it.
  void add(std::string_view text, bool starts, bool ends);
  void add(const PairCounts& other);
  std::uint64_t at(unsigned before, unsigned after) const { return counts_[before * 256 + after]; }

 private:
  std::vector<std::uint64_t> counts_;
};

// Bits per byte of the validation text under p(b | a), fitted on the training text: the pair's
// count, smoothed by `smoothing` times the byte's own (add-one) share. The bits for the ends of
// documents count, but not their bytes, as for the model. 0 if there is no validation text.
double pair_bits_per_byte(const PairCounts& train, const PairCounts& valid);

}  // namespace lockstep::textgen
