// Computes probabilities for the voxels of a whole volume, tile by tile.
#pragma once

#include "recipes/volume/model/net.h"
#include "recipes/volume/model/placement.h"
#include "training/evaluation/sliding_windows.h"

#include <functional>
#include <vector>

namespace lockstep::volume {

struct TileOptions {
  Triple window{64, 64, 64};
  double overlap = 0.5;
  WindowWeights weights = WindowWeights::gaussian;
  std::int64_t batch = 1;
  bool flips = false;  // whether to average over the 8 flips of each tile
  at::Device device = at::kCPU;
  at::ScalarType type = at::kFloat;  // dtype of the parameters
};

struct TileInput {
  Triple extents{};
  RowRange rows;  // the planes to compute
  // Returns a range of stored planes: u8 or f32 [C, planes, H, W] on the CPU.
  SlidingWindows::Read read;
};

struct TiledNet {
  const Net* net;
  at::Tensor normals;  // f32 [C, 4]: the normalisation of this network
};

// Returns the planes of piece `index` if a volume is split into `count` pieces, one for each
// device. Together, the pieces contain every plane. Some pieces may be empty.
RowRange planes_of_piece(const TileOptions& options, const Triple& extents, std::int64_t index,
                         std::int64_t count);

// Computes the probabilities of planes input.rows, averaged over the networks. Passes them to
// `write` as f32 [outputs, planes, H, W] on the device, in ascending order of planes. With one
// output, they are the probabilities of the foreground. With several outputs, they are the
// probabilities of each class. The probabilities of a plane do not depend on which planes are
// requested.
void for_probabilities(const std::vector<TiledNet>& nets, const TileOptions& options,
                       const TileInput& input, const SlidingWindows::Write& write);

// Returns labels, u8 [D, H, W] on the CPU. probabilities: [outputs, D, H, W]. With one output, a
// label is 1 if the probability is above `threshold`, else 0. With several outputs, it is the most
// probable class.
at::Tensor labels_of(const at::Tensor& probabilities, double threshold);

}  // namespace lockstep::volume
