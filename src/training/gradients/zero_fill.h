// The parameters whose gradients are zero-filled when a step begins; the others are overwritten.
#pragma once

#include "ops/gradient_buffer/gradient_buffer.h"
#include "ops/zero_ranges/zero_ranges.h"
#include "training/parameters/parameter_storage.h"

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <memory>
#include <vector>

namespace lockstep {

// In low precision the first gradient of most parameters overwrites the memory, so only the others
// are zero-filled: a parameter belongs to these once its first gradient had to be added, or none
// came, in any step (GradientBuffer::needs_zeros). Owns device tables, which graphs read: they live
// as long as this.
class ZeroFill {
 public:
  // buffers: by parameter. All outlive it.
  ZeroFill(const ParameterStorage& storage,
           const std::vector<std::shared_ptr<GradientBuffer>>& buffers);

  // A step begins. may_prepare: device tables may be made. False: all is to be zero-filled, since
  // nothing is decided yet, or autograd adds by itself.
  bool prepare(bool may_prepare);
  // After prepare: whether parameter i's first gradient overwrites what lies there.
  bool overwrites(std::size_t i) const { return overwritten_[i]; }
  // Zero-fills all others. flat: f32 [elements].
  void fill(const at::Tensor& flat) const { tables_.back()->zero(flat); }

  // For a graph that begins with an update, before its capture. part_of: the update group of each
  // parameter. all: zero-fill what gradients would overwrite, too.
  void cut(const std::vector<std::size_t>& part_of, bool all);
  // The same as `overwrites`, in that capture.
  bool overwrites_in_parts(std::size_t i) const { return !fills_all_ && overwritten_[i]; }
  // dirty: u8 [pieces]; what is clean is passed over. Undefined: nothing is.
  void fill_part(std::size_t part, const at::Tensor& flat, const at::Tensor& dirty) const {
    tables_of_parts_[part]->zero(flat, dirty);
  }

 private:
  void choose();
  template <class Wanted>
  std::unique_ptr<ZeroRanges> table_of(const Wanted& wanted) const;

  const ParameterStorage& storage_;
  const std::vector<std::shared_ptr<GradientBuffer>>& buffers_;
  std::vector<bool> overwritten_;  // by parameter; empty: before the first step
  // The last entry is in use, graphs may hold those before; empty: all is zero-filled.
  std::vector<std::unique_ptr<ZeroRanges>> tables_;
  // By update group, for the next capture; those of earlier captures, which graphs hold.
  std::vector<std::unique_ptr<ZeroRanges>> tables_of_parts_, earlier_;
  bool fills_all_ = false;  // in parts
};

}  // namespace lockstep
