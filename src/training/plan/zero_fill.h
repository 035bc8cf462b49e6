// Zero-fills gradients as one plan says: those of parameters whose first gradient is added to
// zeros.
#pragma once

#include "ops/zero_ranges/zero_ranges.h"
#include "training/parameters/parameter_storage.h"
#include "training/plan/update_plan.h"

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <vector>

namespace lockstep {

// Immutable. Owns device tables, which must outlive the graphs that were captured with it.
class ZeroFill {
 public:
  ZeroFill(const ParameterStorage& storage, const UpdatePlan& plan);

  // Zero-fills one update group. flat: f32 [elements]. dirty: u8 [pieces], and clean pieces are
  // skipped. If `dirty` is undefined, nothing is skipped.
  void fill(std::size_t group, const at::Tensor& flat, const at::Tensor& dirty = {}) const;
  void fill_all(const at::Tensor& flat) const;

 private:
  std::vector<ZeroRanges> groups_;  // empty: the plan has one group, and all of it is zero-filled
};

}  // namespace lockstep
