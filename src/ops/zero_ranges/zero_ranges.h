// Sets some ranges of a flat buffer to 0, in one launch on GPUs.
#pragma once

#include "ops/shared/kernel_arguments.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace lockstep {

// Elements [begin, end); multiples of four on GPUs.
struct ZeroRange {
  std::int64_t begin = 0, end = 0;
  friend bool operator==(const ZeroRange&, const ZeroRange&) = default;
};

// The ranges of one buffer. Owns the table that the kernel reads on the device, so it must outlive
// the graphs that were captured with it.
class ZeroRanges {
 public:
  ZeroRanges(std::vector<ZeroRange> ranges, const at::Device& device);
  const std::vector<ZeroRange>& ranges() const { return ranges_; }
  // flat: f32, contiguous, on that device, 16-byte aligned. Runs on the current stream. dirty: the
  // flags of DirtyRange (sparse_rows.h). Clean pieces already hold zeros and are skipped.
  // Undefined: no piece is skipped.
  void zero(const at::Tensor& flat, const at::Tensor& dirty = {}) const;

 private:
  std::vector<ZeroRange> ranges_;
  at::Tensor pieces_;  // i64 [pieces, 2]: begin, and number of elements, at most zero_piece; on
                       // GPUs
};

using ZeroRangesKernel = void (*)(const ZeroPieces&);  // runs on the current stream
void register_cuda_zero_ranges(ZeroRangesKernel kernel);

}  // namespace lockstep
