// Tells which pieces of sparse parameters are dirty. Only rows that some step used have gradients
// and moments other than 0. So a graph need not zero-fill or update the other rows.
#pragma once

#include "ops/gradient_buffer/gradient_buffer.h"
#include "training/parameters/parameter_storage.h"

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

namespace lockstep {

// A piece is a range of dirty_piece elements of the flat buffers (ops/embedding/sparse_rows.h). All
// pieces of parameters that are not sparse (GradientBuffer::is_sparse) are dirty. One thread.
class DirtyPieces {
 public:
  // buffers: by parameter. Both arguments outlive this object.
  DirtyPieces(const ParameterStorage& storage,
              const std::vector<std::shared_ptr<GradientBuffer>>& buffers)
      : storage_(storage), buffers_(buffers) {}

  // From now on, operations that add rows mark the pieces of these rows. Does nothing in fp32, or
  // where the optimizer is sharded.
  void track();
  // u8 [pieces], 1: dirty. The flags mean nothing before `find`. Undefined: not tracked.
  const at::Tensor& flags() const { return flags_; }
  // Call it before a step that does not mark all pieces that it changes. Only a replay marks all.
  void forget() { is_known_ = false; }
  bool is_known() const { return is_known_; }
  // Call it before a replay. Finds the flags again, unless all steps since the last `find` were
  // replays. A piece of a sparse parameter is dirty if one of these flat buffers [elements] has a
  // value other than 0 there.
  void find(const std::vector<at::Tensor>& flats);

 private:
  void find_of(std::size_t parameter, const std::vector<at::Tensor>& flats);

  const ParameterStorage& storage_;
  const std::vector<std::shared_ptr<GradientBuffer>>& buffers_;
  at::Tensor flags_;
  bool is_known_ = false;
};

}  // namespace lockstep
