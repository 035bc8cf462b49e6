// Sets ranges of a flat buffer to 0, on GPUs in one launch.
#pragma once

#include "ops/shared/kernel_arguments.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace lockstep {

// The elements [begin, end) of a flat buffer. On GPUs, begin and end are multiples of four.
struct ZeroRange {
  std::int64_t begin = 0, end = 0;
  friend bool operator==(const ZeroRange&, const ZeroRange&) = default;
};

// The ranges of one flat buffer. The object owns a table of the ranges on the device, which the
// kernel reads. So the object must outlive the graphs that were captured with it.
class ZeroRanges {
 public:
  ZeroRanges(std::vector<ZeroRange> ranges, const at::Device& device);
  const std::vector<ZeroRange>& ranges() const { return ranges_; }
  // Sets the ranges of `flat` to 0, on the current stream.
  //   flat    f32, contiguous, on the device of the constructor, aligned to 16 bytes
  //   dirty   DirtyRange::flags (sparse_rows.h), or undefined
  // Our kernel skips elements whose flag is 0, because they already hold zeros. If `dirty` is
  // undefined, no elements are skipped.
  void zero(const at::Tensor& flat, const at::Tensor& dirty = {}) const;

 private:
  std::vector<ZeroRange> ranges_;
  at::Tensor pieces_;  // ZeroPieces::pieces, i64 [pieces, 2]; undefined if there is no kernel
};

using ZeroRangesKernel = void (*)(const ZeroPieces&);  // runs on the current stream
void register_cuda_zero_ranges(ZeroRangesKernel kernel);

}  // namespace lockstep
