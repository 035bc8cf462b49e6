// Some ranges of a flat buffer set to 0, in one launch on GPUs.
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

// The ranges of one buffer. Owns what the kernel reads on the device, so it must outlive the graphs
// that were captured with it.
class ZeroRanges {
 public:
  ZeroRanges(std::vector<ZeroRange> ranges, const at::Device& device);
  const std::vector<ZeroRange>& ranges() const { return ranges_; }
  // flat: f32, contiguous, on that device, 16-byte aligned. On the current stream. dirty: pieces
  // that are clean by it (table_rows.h) hold zeros already and are skipped; undefined: none is.
  void zero(const at::Tensor& flat, const at::Tensor& dirty = {}) const;

 private:
  std::vector<ZeroRange> ranges_;
  at::Tensor pieces_;  // i64 [pieces, 2]: begin and elements, at most zero_piece; on GPUs
};

using ZeroRangesKernel = void (*)(const ZeroPieces&);  // on the current stream
void register_cuda_zero_ranges(ZeroRangesKernel kernel);

}  // namespace lockstep
