// Byte-pair merging: joins neighbouring tokens in the order of their ranks.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace lockstep::textgen {

// Immutable once filled.
class Merges {
 public:
  // The pair (left, right) becomes `joined`. Lower ranks are applied first. If a pair is added
  // twice, its first rank counts.
  void add(std::uint32_t left, std::uint32_t right, std::uint32_t joined, std::uint32_t rank);
  // Repeatedly joins the pair of lowest rank, leftmost first, until no pair is left: O(n log n).
  void apply(std::vector<std::uint32_t>& tokens) const;

 private:
  struct Merge {
    std::uint32_t rank, joined;
  };
  const Merge* find(std::uint32_t left, std::uint32_t right) const;

  std::unordered_map<std::uint64_t, Merge> merges_;
};

}  // namespace lockstep::textgen
