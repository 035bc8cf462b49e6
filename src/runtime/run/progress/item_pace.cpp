#include "runtime/run/progress/item_pace.h"

#include <algorithm>

namespace lockstep {
namespace {

// The time to rename the outputs and to end the ranks.
constexpr double leaving_s = 1;

}  // namespace

void ItemPace::begin(double bytes) {
  begun_s_ = clock_.now_s();
  begun_bytes_ = bytes;
}

void ItemPace::end() {
  const double took_s = clock_.now_s() - begun_s_;
  longest_s_ = std::max(longest_s_, took_s);
  if (begun_bytes_ <= 0) return;
  bytes_ += begun_bytes_;
  bytes_s_ += took_s;
}

double ItemPace::expected_s(double bytes) const {
  if (longest_s_ == 0) return expected_s_;
  if (bytes <= 0 || bytes_ <= 0) return longest_s_;
  return bytes_s_ / bytes_ * bytes;
}

bool ItemPace::fits(double bytes) const {
  return ends_s_ <= 0 || clock_.now_s() + expected_s(bytes) + leaving_s <= ends_s_;
}

}  // namespace lockstep
