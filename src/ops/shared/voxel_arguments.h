// Arguments of the CUDA kernels for images and volumes: plain pointers and sizes. This header does
// not include torch, so CUDA sources can include it. A member `of_x` is the gradient of x. A
// "voxel" is one spatial element, in an image also a pixel.
#pragma once

#include "ops/shared/kernel_arguments.h"

#include <cstdint>

namespace lockstep {

// How the kernels see a dense tensor: as [rows, voxels, channels]. A channels-last tensor has one
// row for each item of the batch. A contiguous tensor has one row for each channel of each item. In
// a contiguous tensor, `channels` spatial neighbours form one voxel.
struct VoxelLayout {
  KernelDtype dtype = KernelDtype::f32;
  std::int64_t rows = 0, voxels = 0, channels = 0;
  // Whether the tensor is contiguous. All channels of a row then share their statistics.
  bool together = false;
  // Whether the kernels can use vectors: channels is a multiple of eight, and all tensors are
  // aligned to 16 bytes.
  bool vectors = false;
  // The number of chunks into which the voxels of a row are divided. All chunks but the last have
  // the same number of voxels. The number of chunks depends only on the sizes of the tensor, so
  // sums are the same on every GPU.
  std::int64_t chunks = 0;
  std::int64_t chunk_voxels = 0;  // voxels of each chunk except the last
  // block_groups is the number of vectors of eight channels that a thread block handles. Without
  // `vectors`, it is the number of channels. slabs is the number of thread blocks per chunk.
  int block_groups = 0, slabs = 0;
  std::int64_t statistics = 0;  // number of statistics: rows if `together`, else rows * channels
  // Whether the thread blocks that need the sums of all chunks add them up themselves, so that no
  // extra kernel is needed. This is only used for a single row with few chunks.
  bool finished_by_readers = false;
};
// With finished_by_readers, a thread block handles at most reader_channels channels, and the row
// has at most reader_chunks chunks.
constexpr int reader_channels = 64;
constexpr std::int64_t reader_chunks = 128;

// All pointers are to device memory. An array [statistics] has one element per row if the layout is
// `together`, else one per row and channel.
struct ChannelNormForward {
  VoxelLayout layout;
  const void* x = nullptr;
  const void* skip = nullptr;                            // may be null
  const void *channel_scale = nullptr, *bias = nullptr;  // [statistics], or null
  KernelDtype affine = KernelDtype::f32;                 // dtype of channel_scale and bias
  void* y = nullptr;
  // This array says which elements pass the ReLU. With vectors, a byte has one bit for each of
  // eight channels. Without vectors, there is one byte per element. The pointer is null if backward
  // does not need the array.
  std::uint8_t* positive = nullptr;
  float *mean = nullptr, *inverse_deviation = nullptr;  // results of forward
  float* partial = nullptr;  // [rows, chunks, 2, channels]; unused with `given` or `known`
  // The known moments of x, or null. They are as in ChannelMoments: [known_chunks, 2, channels] and
  // [known_chunks].
  const float *known = nullptr, *known_elements = nullptr;
  std::int64_t known_chunks = 0;
  // The running statistics of batch norm, [statistics]; null for other norms. If `given` is true,
  // the kernels normalise x by the running statistics. Otherwise x is normalised by its own
  // statistics, and the running statistics move towards these by `momentum`. The running variance
  // uses the unbiased estimate.
  float *running_mean = nullptr, *running_variance = nullptr;
  bool given = false;
  float epsilon = 0, momentum = 0;
  bool relu = false;
};
struct ChannelNormBackward {
  VoxelLayout layout;
  const void *of_y = nullptr, *x = nullptr;
  const std::uint8_t* positive = nullptr;  // the array from forward; may be null, see `relu`
  const void *channel_scale = nullptr, *bias = nullptr;
  KernelDtype affine = KernelDtype::f32;
  const float *mean = nullptr, *inverse_deviation = nullptr;
  void* of_x = nullptr;
  void* of_skip = nullptr;   // with `positive`: of_y where the element passed the ReLU, else 0
  float* partial = nullptr;  // [rows, chunks, 2, channels]
  float* sums = nullptr;     // [statistics, 2]
  // [statistics], or null. The gradients are added to the values that are already there.
  float *of_scale = nullptr, *of_bias = nullptr;
  bool given = false;  // whether x was normalised by running statistics
  // If `positive` is null: whether there was a ReLU. Elements with a result above 0 passed it.
  bool relu = false;
  std::int64_t taken_of = 0;  // elements per statistic; 0 if given by the layout
};

// The sum of two norms of tensors with the same layout. Each norm has its own statistics. `first`
// holds the values that both norms share. In forward, the shared values are layout, y, positive and
// relu. In backward, they are of_y, positive and relu. There is no skip.
struct ChannelNormPairForward {
  ChannelNormForward first, second;
};
struct ChannelNormPairBackward {
  ChannelNormBackward first, second;
};

// All pointers are to device memory. mean, largest, share and the gradients of mean and largest
// have the shape [statistics].
struct VoxelPoolForward {
  VoxelLayout layout;
  const void* x = nullptr;
  void *mean = nullptr, *largest = nullptr;  // in the dtype of x
  float* share = nullptr;                    // 1 / the number of elements that tie for the maximum
  float* partial = nullptr;                  // [rows, chunks, 3, channels]
};
struct VoxelPoolBackward {
  VoxelLayout layout;
  const void *x = nullptr, *largest = nullptr;
  const float* share = nullptr;
  const void *of_mean = nullptr, *of_largest = nullptr;  // may be null
  const void* of_through = nullptr;  // a further gradient of x, which is added; may be null
  void* of_x = nullptr;
};

// Max pooling over windows that do not overlap. All tensors are channels-last and aligned to 16
// bytes. Elements of x after the last whole window are ignored.
struct WindowPool {
  KernelDtype dtype = KernelDtype::f32;
  std::int64_t rows = 0, channels = 0;
  std::int64_t depth = 1, height = 0, width = 0;  // sizes of x; depth is 1 for images
  int window[3] = {1, 1, 1};  // window sizes along depth, height and width; not larger than x
  bool vectors = false;       // whether channels and through_step are multiples of eight
};
// The largest number of elements in a window, and in a line of x (width × channels).
constexpr std::int64_t window_pool_most_places = 8, window_pool_most_line = 1 << 30;
struct WindowPoolForward {
  WindowPool pool;
  const void* x = nullptr;
  void* y = nullptr;
  std::uint8_t* places = nullptr;  // the index of each maximum within its window
};
struct WindowPoolBackward {
  WindowPool pool;
  const void* of_y = nullptr;
  const std::uint8_t* places = nullptr;
  const void* of_through = nullptr;  // a further gradient of x, which is added; may be null
  std::int64_t through_step = 0;     // distance in elements of neighbouring positions in of_through
  void* of_x = nullptr;
};

// Max pooling over windows of images. The windows may overlap. All tensors are channels-last and
// aligned to 16 bytes.
struct SlidingPool {
  KernelDtype dtype = KernelDtype::f32;
  std::int64_t rows = 0, channels = 0;
  int height = 0, width = 0, out_height = 0, out_width = 0;
  int window[2] = {1, 1}, stride[2] = {1, 1}, padding[2] = {0, 0};  // each for height, then width
};
constexpr std::int64_t sliding_pool_most_places = 255;  // largest number of elements in a window
struct SlidingPoolForward {
  SlidingPool pool;
  const void* x = nullptr;
  void* y = nullptr;
  std::uint8_t* places = nullptr;  // the index of each maximum within its window
};
struct SlidingPoolBackward {
  SlidingPool pool;
  const void* of_y = nullptr;
  const std::uint8_t* places = nullptr;
  void* of_x = nullptr;
};

// The max pooling of SlidingPool, applied to relu(norm). norm.y is the result of the pool. In
// backward, the chunks of norm.partial are those of the result's layout.
struct PooledNormForward {
  ChannelNormForward norm;
  SlidingPool pool;
  void* largest = nullptr;         // x at each maximum; null if and only if `places` is null
  std::uint8_t* places = nullptr;  // the index of each maximum within its window
};
struct PooledNormBackward {
  // norm.layout is the layout of the results and of of_y. x and of_x have the layout of the pool's
  // input.
  ChannelNormBackward norm;
  SlidingPool pool;
  const void* largest = nullptr;
  const std::uint8_t* places = nullptr;
};

// Common arguments of the forward and backward kernels of spatial_gate
// (ops/attention_gate/attention_gate.h). x is channels-last. depth is 1 for images. weight is [2,
// k_depth, k, k]. k_depth is 1 for images, else k.
struct SpatialGateShape {
  VoxelLayout layout;
  std::int64_t depth = 1, height = 0, width = 0;
  int k = 0, k_depth = 1;
  const void* x = nullptr;
  const void *channel_gate = nullptr, *weight = nullptr;  // channel_gate: [rows, channels]
  KernelDtype channel_gate_dtype = KernelDtype::f32, weight_dtype = KernelDtype::f32;
};
// The largest number of channels that the kernels support, with vectors and without vectors.
constexpr std::int64_t spatial_gate_most_vectors = 1024, spatial_gate_most_scalars = 128;

struct SpatialGateForward {
  SpatialGateShape shape;
  float* maps = nullptr;    // [rows, 2, voxels]: mean and maximum over channels; result
  float* places = nullptr;  // [rows, voxels]: the gate of each spatial position; result
  void* y = nullptr;
};
struct SpatialGateBackward {
  SpatialGateShape shape;
  const void* of_y = nullptr;
  const float *maps = nullptr, *places = nullptr;
  float* of_places = nullptr;  // [rows, voxels]: gradient of the gates before the sigmoid; result
  float* of_maps = nullptr;    // [rows, 2, voxels]; result
  // Each gradient is in the dtype of its tensor.
  void *of_x = nullptr, *of_channel_gate = nullptr, *of_weight = nullptr;
  float* partial = nullptr;         // [rows, chunks, channels]
  float* weight_partial = nullptr;  // [spatial_gate_most_blocks, 2 * k_depth * k * k]
};
constexpr std::int64_t spatial_gate_most_blocks = 528;

// All pointers are to device memory. logits and target: [rows, places], aligned to 16 bytes.
// `places` is the number of spatial positions in a row.
struct MaskLossArguments {
  const void* logits = nullptr;
  KernelDtype dtype = KernelDtype::f32;
  const std::uint8_t* target = nullptr;
  const float* row_weight = nullptr;
  std::int64_t rows = 0, places = 0, chunks = 0;  // chunks: number per row
  int ignore = -1;
  float smooth = 1, alpha = 0, gamma = 0;
  // [rows, 4]: for each row, the sums of p y, p, y and 1 over all positions that are not ignored. p
  // is the sigmoid of the logit, and y is 1 in the foreground, else 0. Forward writes row_sums, and
  // backward reads them.
  float* row_sums = nullptr;
};
struct MaskLossForward {
  MaskLossArguments shared;
  float* partial = nullptr;                                 // [rows, chunks, 6]
  float *dice = nullptr, *focal = nullptr, *bce = nullptr;  // one element each
};
struct MaskLossBackward {
  MaskLossArguments shared;
  // The gradients of the three losses, one element each. Any of them may be null.
  const float *of_dice = nullptr, *of_focal = nullptr, *of_bce = nullptr;
  void* of_logits = nullptr;
};
// The number of spatial positions of a row that one thread block handles.
constexpr std::int64_t mask_loss_chunk = 8192;

// Multiplies feature maps by factors per channel, and computes the gradients. All pointers are to
// device memory, aligned to 16 bytes. channels is a multiple of eight.
constexpr std::int64_t channel_products_chunk = 64;  // positions for each thread block in backward
constexpr std::int64_t channel_products_most = 65535;  // largest number of sets
struct ChannelProducts {
  const void *x = nullptr, *factors = nullptr;  // [items, places, channels], [sets, channels]
  void* out = nullptr;                          // [items, sets, places, channels]; only for forward
  // of_out, of_x, of_factors and partial are only for backward.
  const void* of_out = nullptr;
  void *of_x = nullptr, *of_factors = nullptr;  // either may be null
  float* partial = nullptr;                     // [chunks, sets, channels]; needed for of_factors
  KernelDtype dtype = KernelDtype::f32;
  std::int64_t items = 0, sets = 0, places = 0, channels = 0, chunks = 0;
};

}  // namespace lockstep
