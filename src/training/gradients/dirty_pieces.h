// Tracks which pieces of sparse parameters are dirty: gradients or optimizer moments in these
// pieces may differ from 0. Only rows that some step used have such values. So a graph need not
// zero-fill or update the other rows.
#pragma once

#include "ops/gradient_buffer/gradient_buffer.h"
#include "training/parameters/parameter_storage.h"

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

namespace lockstep {

// A piece is a range of dirty_piece elements of the flat buffers (ops/embedding/sparse_rows.h). A
// piece that is not dirty is clean. All pieces of parameters that are not sparse
// (GradientBuffer::is_sparse) are dirty. All calls must come from one thread.
class DirtyPieces {
 public:
  // buffers: the gradient buffer of each parameter. Both arguments must outlive this object.
  DirtyPieces(const ParameterStorage& storage,
              const std::vector<std::shared_ptr<GradientBuffer>>& buffers)
      : storage_(storage), buffers_(buffers) {}

  // Starts tracking. From now on, operations that add rows to a gradient mark the pieces of these
  // rows. Does nothing in fp32 or if the optimizer is sharded.
  void track();
  // The flags of all pieces, u8 [pieces]; 1 means dirty. They are valid only after `find`. The
  // tensor is undefined if pieces are not tracked.
  const at::Tensor& flags() const { return flags_; }
  // Call it before every step that is not a replay of a graph, because such a step may change
  // pieces without marking them.
  void forget() { is_known_ = false; }
  bool is_known() const { return is_known_; }
  // Call it before a replay of a graph. Computes the flags at the first call, and again if `forget`
  // was called since the last `find`. A piece of a sparse parameter is dirty if any of `flats` has
  // a value other than 0 in this piece. flats: flat buffers [elements].
  void find(const std::vector<at::Tensor>& flats);

 private:
  void find_of(std::size_t parameter, const std::vector<at::Tensor>& flats);

  const ParameterStorage& storage_;
  const std::vector<std::shared_ptr<GradientBuffer>>& buffers_;
  at::Tensor flags_;
  bool is_known_ = false;
};

}  // namespace lockstep
