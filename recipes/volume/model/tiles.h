// The network over a whole volume, tile by tile.
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
  at::ScalarType type = at::kFloat;  // the networks' parameters'
};

struct TileInput {
  Triple extents{};
  RowRange rows;  // the planes that are wanted
  // Planes [begin, end) as stored: [C, planes, H, W] u8 or f32, on the CPU.
  SlidingWindows::Read read;
};

struct TiledNet {
  const Net* net;
  at::Tensor normals;  // f32 [C, 4]: how this network was given its volumes
};

// Planes of piece `index` of `count`, for devices that share a volume: together all, some empty.
RowRange planes_of_piece(const TileOptions& options, const Triple& extents, std::int64_t index,
                         std::int64_t count);

// Probabilities of `input.rows`, the mean over the networks: of foreground [1, planes, H, W] if
// they have one output, else of each class. f32, on the device, planes in ascending order. They do
// not depend on which rows are asked for.
void for_probabilities(const std::vector<TiledNet>& nets, const TileOptions& options,
                       const TileInput& input, const SlidingWindows::Write& write);

// u8 [D, H, W] on the CPU: 1 where the probability of foreground is above `threshold`, or the most
// probable class.
at::Tensor labels_of(const at::Tensor& probabilities, double threshold);

}  // namespace lockstep::volume
