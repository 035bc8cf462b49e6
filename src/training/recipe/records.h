// The records of an evaluation. Each sample has a record of any number of numbers.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace lockstep {

// Records in the order of the samples, on the CPU. Copies share the numbers.
class Records {
 public:
  Records() : Records(std::vector<at::Tensor>()) {}
  // values f64 [offsets.back()] on the CPU; record i is [offsets[i], offsets[i + 1]) of it.
  // offsets: [N + 1], beginning with 0, never decreasing.
  Records(at::Tensor values, std::vector<std::int64_t> offsets);
  // Record i is rows[i], flattened.
  explicit Records(const std::vector<at::Tensor>& rows);
  // rows [N, R]: all records have length R.
  explicit Records(const at::Tensor& rows);

  std::int64_t size() const { return static_cast<std::int64_t>(offsets_.size()) - 1; }
  std::int64_t length(std::int64_t i) const { return offsets_[at(i + 1)] - offsets_[at(i)]; }
  // f64 [length(i)], a view. For example, for detections: records[i].view({-1, 6}).
  at::Tensor operator[](std::int64_t i) const;
  // f64 [N, R], a view. Throws Error if lengths differ.
  at::Tensor dense() const;

  const at::Tensor& values() const { return values_; }  // f64 [sum of lengths]
  const std::vector<std::int64_t>& offsets() const { return offsets_; }

 private:
  static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
  at::Tensor values_;
  std::vector<std::int64_t> offsets_;
};

}  // namespace lockstep
