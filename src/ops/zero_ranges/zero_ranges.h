// Sets ranges of a flat buffer to 0, on GPUs in one launch.
#pragma once

#include "ops/shared/kernel_arguments.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace lockstep {

// Elements [begin, end). On GPUs, both are multiples of four.
struct ZeroRange {
  std::int64_t begin = 0, end = 0;
  friend bool operator==(const ZeroRange&, const ZeroRange&) = default;
};

// The ranges of one buffer. The object owns the table on the device that the kernel reads. So it
// must outlive the graphs that were captured with it.
class ZeroRanges {
 public:
  ZeroRanges(std::vector<ZeroRange> ranges, const at::Device& device);
  const std::vector<ZeroRange>& ranges() const { return ranges_; }
  // Sets the ranges of `flat` to 0, on the current stream.
  //   flat    f32, contiguous, on the device of the constructor, aligned to 16 bytes
  //   dirty   DirtyRange::flags (sparse_rows.h), or undefined
  // Our kernel skips pieces whose flag is 0, because they already hold zeros. If `dirty` is
  // undefined, no piece is skipped.
  void zero(const at::Tensor& flat, const at::Tensor& dirty = {}) const;

 private:
  std::vector<ZeroRange> ranges_;
  at::Tensor pieces_;  // ZeroPieces::pieces, i64 [pieces, 2]; undefined if there is no kernel
};

using ZeroRangesKernel = void (*)(const ZeroPieces&);  // runs on the current stream
void register_cuda_zero_ranges(ZeroRangesKernel kernel);

}  // namespace lockstep
