// The mean of measured values.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>

namespace lockstep {

class MeanOf {
 public:
  // Adds a value. A missing or non-finite value is ignored.
  void add(std::optional<double> value) {
    if (!value || !std::isfinite(*value)) return;
    sum_ += *value;
    ++count_;
  }
  std::optional<double> value() const {
    return count_ == 0 ? std::nullopt : std::optional(sum_ / static_cast<double>(count_));
  }

 private:
  double sum_ = 0;
  std::int64_t count_ = 0;
};

}  // namespace lockstep
