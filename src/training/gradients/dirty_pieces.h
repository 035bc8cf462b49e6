// Which pieces of sparse parameters are dirty. Only rows that some step used have gradients and
// moments other than 0, so a graph need not zero-fill or update the rest.
#pragma once

#include "ops/gradient_buffer/gradient_buffer.h"
#include "training/parameters/parameter_storage.h"

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

namespace lockstep {

// Pieces are dirty_piece elements of the flat buffers (ops/embedding/sparse_rows.h). All pieces of
// parameters that are not sparse (GradientBuffer::is_sparse) are dirty. One thread.
class DirtyPieces {
 public:
  // buffers: by parameter. All outlive it.
  DirtyPieces(const ParameterStorage& storage,
              const std::vector<std::shared_ptr<GradientBuffer>>& buffers)
      : storage_(storage), buffers_(buffers) {}

  // From now on operations that add rows mark their pieces. Does nothing in fp32, or where the
  // optimizer is sharded.
  void track();
  // u8 [pieces], 1: dirty. They mean nothing before `find`. Undefined: not tracked.
  const at::Tensor& flags() const { return flags_; }
  // A step comes that marks not all that it changes: any but a replay.
  void forget() { is_known_ = false; }
  bool is_known() const { return is_known_; }
  // Before a replay: finds the flags, unless only replays came since. A piece of a sparse parameter
  // is dirty if one of these flat buffers [elements] holds something other than 0 there.
  void find(const std::vector<at::Tensor>& flats);

 private:
  void find_of(std::size_t parameter, const std::vector<at::Tensor>& flats);

  const ParameterStorage& storage_;
  const std::vector<std::shared_ptr<GradientBuffer>>& buffers_;
  at::Tensor flags_;
  bool is_known_ = false;
};

}  // namespace lockstep
