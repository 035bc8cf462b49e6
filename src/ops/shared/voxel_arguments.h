// Arguments of kernels over the elements of images and volumes: plain pointers and sizes, for
// sources with and without torch.
#pragma once

#include "ops/shared/kernel_arguments.h"

#include <cstdint>

namespace lockstep {

// A dense tensor seen as [rows, voxels, channels]. If it is channels-last, rows are those of the
// batch. If it is contiguous, there is one row per row and channel of the batch. There `channels`
// spatial neighbours form one voxel.
struct VoxelLayout {
  KernelDtype dtype = KernelDtype::f32;
  std::int64_t rows = 0, voxels = 0, channels = 0;
  // The tensor is contiguous, so all channels of a row share their statistics.
  bool together = false;
  // channels is a multiple of eight, and all tensors are aligned to 16 bytes.
  bool vectors = false;
  // The number of chunks into which the voxels of a row are divided. All chunks but the last have
  // the same number of voxels. The number of chunks depends on the sizes alone, so that sums are
  // the same on every GPU.
  std::int64_t chunks = 0;
  std::int64_t chunk_voxels = 0;  // voxels of every chunk but the last
  // The number of vectors (without `vectors`: channels) of a block, and the number of such blocks
  // per chunk.
  int block_groups = 0, slabs = 0;
  std::int64_t statistics = 0;  // rows if together, else rows * channels
  // For a single row: there are so few sums that each block adds up those that it needs.
  bool finished_by_readers = false;
};
// The largest number of channels of a block, and of chunks of a row, if readers finish the sums.
constexpr int reader_channels = 64;
constexpr std::int64_t reader_chunks = 128;

// Everything is on the device. There is one statistic per row, or per row and channel:
// [statistics].
struct ChannelNormForward {
  VoxelLayout layout;
  const void* x = nullptr;
  const void* skip = nullptr;                            // or null
  const void *channel_scale = nullptr, *bias = nullptr;  // [statistics] or null
  KernelDtype affine = KernelDtype::f32;                 // type of channel_scale and bias
  void* y = nullptr;
  // Says which elements pass the ReLU: one bit per element, in bytes of eight channels, or without
  // vectors one byte per element. Null: not wanted.
  std::uint8_t* positive = nullptr;
  float *mean = nullptr, *inverse_deviation = nullptr;  // written
  float* partial = nullptr;  // [rows, chunks, 2, channels]; unused if `given`
  // The moments of x as in ChannelMoments, if they are known: [known_chunks, 2, channels] and
  // [known_chunks]. Otherwise null.
  const float *known = nullptr, *known_elements = nullptr;
  std::int64_t known_chunks = 0;
  // For batch norm, else null: [statistics], updated by momentum (the variance as an unbiased
  // estimate). If `given`, x is normalised by these instead of its own statistics.
  float *running_mean = nullptr, *running_variance = nullptr;
  bool given = false;
  float epsilon = 0, momentum = 0;
  bool relu = false;
};
struct ChannelNormBackward {
  VoxelLayout layout;
  const void *of_y = nullptr, *x = nullptr;
  const std::uint8_t* positive = nullptr;  // as forward wrote it; null: see `relu`
  const void *channel_scale = nullptr, *bias = nullptr;
  KernelDtype affine = KernelDtype::f32;
  const float *mean = nullptr, *inverse_deviation = nullptr;
  void* of_x = nullptr;
  void* of_skip = nullptr;   // with `positive`: of_y where an element passed the ReLU
  float* partial = nullptr;  // [rows, chunks, 2, channels]
  float* sums = nullptr;     // [statistics, 2]
  // [statistics] or null; gradients are added to them
  float *of_scale = nullptr, *of_bias = nullptr;
  bool given = false;         // mean and deviation do not depend on x
  bool relu = false;          // without `positive`: elements above 0 passed
  std::int64_t taken_of = 0;  // number of elements of a statistic; 0: as the layout says
};

// The sum of two norms of tensors with the same layout, each with its own statistics. `first` has
// the values that both share: layout, y, positive and relu, and in backward of_y, positive and
// relu. There is no skip.
struct ChannelNormPairForward {
  ChannelNormForward first, second;
};
struct ChannelNormPairBackward {
  ChannelNormBackward first, second;
};

// Everything is on the device. All but x are [statistics].
struct VoxelPoolForward {
  VoxelLayout layout;
  const void* x = nullptr;
  void *mean = nullptr, *largest = nullptr;  // in x's type
  float* share = nullptr;    // one over the number of elements that tie for the maximum
  float* partial = nullptr;  // [rows, chunks, 3, channels]
};
struct VoxelPoolBackward {
  VoxelLayout layout;
  const void *x = nullptr, *largest = nullptr;
  const float* share = nullptr;
  const void *of_mean = nullptr, *of_largest = nullptr;  // or null
  const void* of_through = nullptr;                      // or null: added to x's gradient
  void* of_x = nullptr;
};

// Max pooling over windows that do not overlap. All tensors are channels-last and aligned to 16
// bytes. The rest of x that does not fill a last window has no result.
struct WindowPool {
  KernelDtype dtype = KernelDtype::f32;
  std::int64_t rows = 0, channels = 0;
  std::int64_t depth = 1, height = 0, width = 0;  // size of x; depth is 1 for images
  int window[3] = {1, 1, 1};                      // along depth, height and width; no larger than x
  bool vectors = false;  // channels and through_step are multiples of eight
};
// The largest number of places of a window, and of elements of a line of x.
constexpr std::int64_t window_pool_most_places = 8, window_pool_most_line = 1 << 30;
struct WindowPoolForward {
  WindowPool pool;
  const void* x = nullptr;
  void* y = nullptr;
  std::uint8_t* places = nullptr;  // the place of each maximum in its window
};
struct WindowPoolBackward {
  WindowPool pool;
  const void* of_y = nullptr;
  const std::uint8_t* places = nullptr;
  const void* of_through = nullptr;  // or null: added to x's gradient
  std::int64_t through_step = 0;     // elements of of_through from one place to the next
  void* of_x = nullptr;
};

// Max pooling over windows of images that may overlap. All tensors are channels-last and aligned to
// 16 bytes.
struct SlidingPool {
  KernelDtype dtype = KernelDtype::f32;
  std::int64_t rows = 0, channels = 0;
  int height = 0, width = 0, out_height = 0, out_width = 0;
  int window[2] = {1, 1}, stride[2] = {1, 1}, padding[2] = {0, 0};  // height, width
};
constexpr std::int64_t sliding_pool_most_places = 255;  // of a window
struct SlidingPoolForward {
  SlidingPool pool;
  const void* x = nullptr;
  void* y = nullptr;
  std::uint8_t* places = nullptr;  // the place of each maximum in its window
};
struct SlidingPoolBackward {
  SlidingPool pool;
  const void* of_y = nullptr;
  const std::uint8_t* places = nullptr;
  void* of_x = nullptr;
};

// The same max pooling, but of relu(norm). norm.y is the result of the pool. In backward, `partial`
// also has the layout of the results.
struct PooledNormForward {
  ChannelNormForward norm;
  SlidingPool pool;
  void* largest = nullptr;         // x at the place of each result; set together with `places`, or
                                   // both null
  std::uint8_t* places = nullptr;  // the place of each maximum in its window
};
struct PooledNormBackward {
  ChannelNormBackward
      norm;  // its layout is that of the results and of of_y; x and of_x keep their own
  SlidingPool pool;
  const void* largest = nullptr;
  const std::uint8_t* places = nullptr;
};

// Common arguments of gates per channel and per place. x: channels-last. depth is 1 for images.
// weight: [2, k_depth, k, k]; k_depth is k or, for images, 1.
struct SpatialGateShape {
  VoxelLayout layout;
  std::int64_t depth = 1, height = 0, width = 0;
  int k = 0, k_depth = 1;
  const void* x = nullptr;
  const void *channel_gate = nullptr, *weight = nullptr;  // [rows, channels]
  KernelDtype channel_gate_dtype = KernelDtype::f32, weight_dtype = KernelDtype::f32;
};
// The largest number of channels that the kernels support, with vectors and without.
constexpr std::int64_t spatial_gate_most_vectors = 1024, spatial_gate_most_scalars = 128;

struct SpatialGateForward {
  SpatialGateShape shape;
  float* maps = nullptr;    // [rows, 2, voxels]: mean and largest over channels; written
  float* places = nullptr;  // [rows, voxels]: the gates; written
  void* y = nullptr;
};
struct SpatialGateBackward {
  SpatialGateShape shape;
  const void* of_y = nullptr;
  const float *maps = nullptr, *places = nullptr;
  float* of_places = nullptr;  // [rows, voxels]: gradient before the sigmoid; written
  float* of_maps = nullptr;    // [rows, 2, voxels]; written
  void *of_x = nullptr, *of_channel_gate = nullptr, *of_weight = nullptr;  // each in its own type
  float* partial = nullptr;         // [rows, chunks, channels]
  float* weight_partial = nullptr;  // [spatial_gate_most_blocks, 2 * k_depth * k * k]
};
constexpr std::int64_t spatial_gate_most_blocks = 528;

// Everything is on the device. logits and target: [rows, places], aligned to 16 bytes.
struct MaskLossArguments {
  const void* logits = nullptr;
  KernelDtype dtype = KernelDtype::f32;
  const std::uint8_t* target = nullptr;
  const float* row_weight = nullptr;
  std::int64_t rows = 0, places = 0, chunks = 0;  // chunks of a row
  int ignore = -1;
  float smooth = 1, alpha = 0, gamma = 0;
  // [rows, 4]: sums of p y, p, y and 1 over places that count. Forward writes it, backward reads
  // it.
  float* row_sums = nullptr;
};
struct MaskLossForward {
  MaskLossArguments shared;
  float* partial = nullptr;                                 // [rows, chunks, 6]
  float *dice = nullptr, *focal = nullptr, *bce = nullptr;  // one each
};
struct MaskLossBackward {
  MaskLossArguments shared;
  const float *of_dice = nullptr, *of_focal = nullptr, *of_bce = nullptr;  // one each, or null
  void* of_logits = nullptr;
};
// The number of places of a row that a block takes.
constexpr std::int64_t mask_loss_chunk = 8192;

// Maps times factors per channel, and the gradients. Everything is on the device, aligned to 16
// bytes. channels is a multiple of eight.
constexpr std::int64_t channel_products_chunk = 64;    // number of places that a block adds up
constexpr std::int64_t channel_products_most = 65535;  // sets
struct ChannelProducts {
  const void *x = nullptr, *factors = nullptr;  // [items, places, channels], [sets, channels]
  void* out = nullptr;                          // [items, sets, places, channels]; forward only
  const void* of_out = nullptr;                 // backward only, as all below
  void *of_x = nullptr, *of_factors = nullptr;  // either may be null
  float* partial = nullptr;                     // [chunks, sets, channels], with of_factors
  KernelDtype dtype = KernelDtype::f32;
  std::int64_t items = 0, sets = 0, places = 0, channels = 0, chunks = 0;
};

}  // namespace lockstep
