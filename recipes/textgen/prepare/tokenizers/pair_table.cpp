// The baseline that a trained model must beat: a table of byte pairs.
#include "recipes/textgen/prepare/tokenizers/pair_table.h"

#include <array>
#include <cmath>

namespace lockstep::textgen {

void PairCounts::add(std::string_view text, bool starts, bool ends) {
  if (text.empty()) return;
  std::size_t last = 0;
  if (!starts) {
    last = static_cast<unsigned char>(text[0]);
    text.remove_prefix(1);
  }
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    ++counts_[last * 256 + byte];
    last = byte;
  }
  if (ends) ++counts_[last * 256];
}

void PairCounts::add(const PairCounts& other) {
  for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
}

double pair_bits_per_byte(const PairCounts& train, const PairCounts& valid) {
  constexpr double smoothing = 4;
  std::array<double, 256> after{}, before{};
  double total = 256;
  after.fill(1);
  for (unsigned a = 0; a < 256; ++a)
    for (unsigned b = 0; b < 256; ++b) {
      const auto count = static_cast<double>(train.at(a, b));
      after[b] += count;
      before[a] += count;
      total += count;
    }
  double bits = 0, bytes = 0;
  for (unsigned a = 0; a < 256; ++a)
    for (unsigned b = 0; b < 256; ++b) {
      const auto count = static_cast<double>(valid.at(a, b));
      if (count == 0) continue;
      const double share = (static_cast<double>(train.at(a, b)) + smoothing * after[b] / total) /
                           (before[a] + smoothing);
      bits -= count * std::log2(share);
      if (b != 0) bytes += count;
    }
  return bytes == 0 ? 0 : bits / bytes;
}

}  // namespace lockstep::textgen
