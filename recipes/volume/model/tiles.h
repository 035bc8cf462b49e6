// Runs the network over a whole volume, tile by tile.
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
  bool flips = false;  // mean over all flips of each tile
  at::Device device = at::kCPU;
  at::ScalarType type = at::kFloat;  // dtype of the networks' parameters
};

struct TileInput {
  Triple extents{};
  RowRange rows;  // the requested planes
  // Reads planes [begin, end) as stored: [C, planes, H, W] u8 or f32, on the CPU.
  SlidingWindows::Read read;
};

struct TiledNet {
  const Net* net;
  at::Tensor normals;  // f32 [C, 4]: the normalisation with which this network was trained
};

// The planes of piece `index` of `count`, for devices that share a volume. Together the pieces are
// all planes; some may be empty.
RowRange planes_of_piece(const TileOptions& options, const Triple& extents, std::int64_t index,
                         std::int64_t count);

// Computes the probabilities of `input.rows`, averaged over the networks. They are of the
// foreground, [1, planes, H, W], if the networks have one output, else of each class. f32, on the
// device, planes in ascending order. They do not depend on which rows are requested.
void for_probabilities(const std::vector<TiledNet>& nets, const TileOptions& options,
                       const TileInput& input, const SlidingWindows::Write& write);

// u8 [D, H, W] on the CPU: for one output, 1 where the probability of foreground is above
// `threshold`; for several, the most probable class.
at::Tensor labels_of(const at::Tensor& probabilities, double threshold);

}  // namespace lockstep::volume
