// What kernels over the elements of images and volumes are given: plain pointers and sizes, for
// sources with and without torch.
#pragma once

#include "kernels/kernel_arguments.h"

#include <cstdint>

namespace lockstep {

// A dense tensor seen as [rows, voxels, channels]. Channels-last: rows of the batch. Contiguous: a
// row per row and channel of the batch, in which `channels` elements, neighbours in space, are one
// voxel here.
struct VoxelLayout {
  KernelDtype dtype = KernelDtype::f32;
  std::int64_t rows = 0, voxels = 0, channels = 0;
  // All channels of a row share their statistics: it is contiguous.
  bool together = false;
  // Channels are a multiple of eight. All tensors are aligned to 16 bytes.
  bool vectors = false;
  // Blocks that share out the voxels of a row, each the same number but for the last ones. A
  // function of the sizes alone, so that sums are the same on every GPU.
  std::int64_t chunks = 0;
  std::int64_t statistics = 0;  // rows if together, else rows * channels
};

// Everything on the device. A statistic per row, or per row and channel: [statistics].
struct InstanceNormForward {
  VoxelLayout layout;
  const void* x = nullptr;
  const void* skip = nullptr;            // or null
  const float* channel_scale = nullptr;  // [statistics] or null
  void* y = nullptr;
  // A bit per element, whether it passes the ReLU, in bytes of eight channels, or without vectors a
  // byte per element. Null: not wanted.
  std::uint8_t* positive = nullptr;
  float *mean = nullptr, *inverse_deviation = nullptr;  // written
  float* partial = nullptr;                             // [rows, chunks, 2, channels]
  float epsilon = 0;
  bool relu = false;
};
struct InstanceNormBackward {
  VoxelLayout layout;
  const void *of_y = nullptr, *x = nullptr;
  const std::uint8_t* positive = nullptr;  // as forward wrote it, or null: not by bits
  const float *channel_scale = nullptr, *mean = nullptr, *inverse_deviation = nullptr;
  void* of_x = nullptr;
  void* of_skip = nullptr;   // with `positive`, where it is of_y of what passed the ReLU
  float* partial = nullptr;  // [rows, chunks, 2, channels]
  float* sums = nullptr;     // [statistics, 2]
  bool relu = false;         // without `positive`: what is above its mean passed
};

}  // namespace lockstep
