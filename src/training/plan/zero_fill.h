// Zero-fills the gradients of all parameters whose first gradient a plan adds to zeros
// (FirstGradient::adds_to_zeros).
#pragma once

#include "ops/zero_ranges/zero_ranges.h"
#include "training/parameters/parameter_storage.h"
#include "training/plan/update_plan.h"

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <vector>

namespace lockstep {

// The object is immutable. It owns tables on the device. Captured graphs read these tables, so the
// object must outlive the graphs.
class ZeroFill {
 public:
  ZeroFill(const ParameterStorage& storage, const UpdatePlan& plan);

  // Zero-fills the gradients of one update group.
  //   flat: f32 [elements], the gradients
  //   dirty: u8 [pieces], see DirtyPieces; pieces with flag 0 are skipped; if undefined, no piece
  //     is skipped
  void fill(std::size_t group, const at::Tensor& flat, const at::Tensor& dirty = {}) const;
  void fill_all(const at::Tensor& flat) const;

 private:
  std::vector<ZeroRanges> groups_;  // empty if `fill` zero-fills the whole buffer
};

}  // namespace lockstep
