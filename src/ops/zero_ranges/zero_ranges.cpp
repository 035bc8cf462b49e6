// Cuts ranges into pieces. A block handles each piece.
#include "ops/zero_ranges/zero_ranges.h"

#include "core/base/check.h"

#include <ATen/ops/tensor.h>

#include <algorithm>

namespace lockstep {
namespace {

ZeroRangesKernel zero_ranges_kernel = nullptr;  // set once, before the first step

}  // namespace

ZeroRanges::ZeroRanges(std::vector<ZeroRange> ranges, const at::Device& device)
    : ranges_(std::move(ranges)) {
  if (!device.is_cuda() || zero_ranges_kernel == nullptr) return;
  std::vector<std::int64_t> pieces;
  for (const ZeroRange& range : ranges_) {
    LOCKSTEP_CHECK(range.begin % 4 == 0 && range.end % 4 == 0);
    for (std::int64_t begin = range.begin; begin < range.end; begin += zero_piece) {
      pieces.push_back(begin);
      pieces.push_back(std::min(zero_piece, range.end - begin));
    }
  }
  pieces_ = at::tensor(pieces, at::kLong).view({-1, 2}).to(device);
}

void ZeroRanges::zero(const at::Tensor& flat, const at::Tensor& dirty) const {
  if (!pieces_.defined()) {
    for (const ZeroRange& range : ranges_)
      flat.narrow(0, range.begin, range.end - range.begin).zero_();
    return;
  }
  if (pieces_.size(0) == 0) return;
  zero_ranges_kernel({.flat = flat.mutable_data_ptr<float>(),
                      .pieces = pieces_.const_data_ptr<std::int64_t>(),
                      .count = pieces_.size(0),
                      .dirty = dirty.defined() ? dirty.const_data_ptr<std::uint8_t>() : nullptr});
}

void register_cuda_zero_ranges(ZeroRangesKernel kernel) { zero_ranges_kernel = kernel; }

}  // namespace lockstep
