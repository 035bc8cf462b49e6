// Holds the records of an evaluation. Each row of the validation set has a record, which is a list
// of numbers of any length.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace lockstep {

// Records in the order of the rows, on the CPU. Copies of the object share the numbers.
class Records {
 public:
  Records() : Records(std::vector<at::Tensor>()) {}
  // Record i is values[offsets[i]] to values[offsets[i + 1] - 1].
  //   values: f64 [offsets.back()] on the CPU
  //   offsets: [N + 1], begins with 0 and never decreases
  Records(at::Tensor values, std::vector<std::int64_t> offsets);
  // Record i is rows[i], flattened and converted to f64.
  explicit Records(const std::vector<at::Tensor>& rows);
  // Record i is rows[i]. rows: [N, R].
  explicit Records(const at::Tensor& rows);

  std::int64_t size() const { return static_cast<std::int64_t>(offsets_.size()) - 1; }
  std::int64_t length(std::int64_t i) const { return offsets_[at(i + 1)] - offsets_[at(i)]; }
  // Returns a view of record i, f64 [length(i)]. Detections, for example, can be read as
  // records[i].view({-1, 6}).
  at::Tensor operator[](std::int64_t i) const;
  // Returns a view of all records, f64 [N, R]. Throws Error if their lengths differ.
  at::Tensor dense() const;

  const at::Tensor& values() const { return values_; }  // f64 [sum of lengths]
  const std::vector<std::int64_t>& offsets() const { return offsets_; }

 private:
  static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
  at::Tensor values_;
  std::vector<std::int64_t> offsets_;
};

}  // namespace lockstep
