// Applies the merges of byte-pair encoding. A merge joins two neighbouring tokens into one. Merges
// are applied in the order of their ranks.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace lockstep::textgen {

// A set of merges. After the last add(), several threads may call apply() at once.
class Merges {
 public:
  // Adds a merge: the pair (left, right) becomes `joined`. Merges of lower rank are applied first.
  // If a pair is added twice, the first call counts.
  void add(std::uint32_t left, std::uint32_t right, std::uint32_t joined, std::uint32_t rank);
  // Joins the neighbouring pair of lowest rank again and again, until no merge applies. Among pairs
  // of equal rank, the leftmost is joined first. Takes O(n log n) time for n tokens.
  void apply(std::vector<std::uint32_t>& tokens) const;

 private:
  struct Merge {
    std::uint32_t rank, joined;
  };
  const Merge* find(std::uint32_t left, std::uint32_t right) const;

  std::unordered_map<std::uint64_t, Merge> merges_;
};

}  // namespace lockstep::textgen
