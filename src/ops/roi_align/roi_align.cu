// RoIAlign (He and others, 2017). Forward: a block computes a row of a box's bins, and a thread
// computes W channels of a bin. Backward: a block computes the gradient of one cell of the
// features, and finds the boxes that use it. Groups of threads divide their contributions, and each
// group has all channels. The groups' sums are added in order. So there are no atomic additions,
// and each cell is written once. The weight of a cell in a bin is the product of its weights along
// the two axes.
#include "ops/boxes/box_inline.h"
#include "ops/roi_align/roi_align_launch.h"
#include "ops/shared/device/device_assert.cuh"
#include "ops/shared/device/voxels.cuh"

#include <climits>

namespace lockstep {
namespace {

constexpr int roi_threads = 256, roi_warps = roi_threads / 32;

struct RoiAxes {
  RoiAxis<float> y, x;
};

__device__ RoiAxes axes_of(const RoiAlignShape& shape, std::int64_t roi) {
  const Corners box = reinterpret_cast<const Corners*>(shape.boxes)[roi];
  return {roi_axis(box.y1, box.y2, shape.scale, shape.bins_y, shape.sampling, shape.aligned),
          roi_axis(box.x1, box.x2, shape.scale, shape.bins_x, shape.sampling, shape.aligned)};
}

template <int W, class T>
__device__ void add_pack(float (&sums)[W], const T* from, float weight) {
  const auto values = Pack<T, W>::at(from);
#pragma unroll
  for (int i = 0; i < W; ++i) sums[i] += weight * values[i];
}

template <int W, class T>
__device__ void store_sums(const float (&sums)[W], T* to) {
  Pack<T, W> values;
#pragma unroll
  for (int i = 0; i < W; ++i) values.value[i] = from_float<T>(sums[i]);
  values.store(to);
}

// The mean over a bin's points. picture: the features of the box's picture, from the thread's first
// channel.
template <int W, class T>
__device__ void mean_of_bin(const RoiAlignShape& shape, const RoiAxes& axes, int bin_y, int bin_x,
                            const T* picture, float (&sums)[W]) {
  const int height = static_cast<int>(shape.height), width = static_cast<int>(shape.width);
  const RoiRange rows = roi_range(axes.y, bin_y, -1.0F, static_cast<float>(height)),
                 columns = roi_range(axes.x, bin_x, -1.0F, static_cast<float>(width));
  const float share = 1.0F / (static_cast<float>(axes.y.points) * axes.x.points);
  for (int i = rows.first; i < rows.last; ++i) {
    const RoiPoint<float> y = roi_point(axes.y, bin_y, i, height);
    if (y.of_low == 0 && y.of_high == 0) continue;
    const T* low = picture + y.low * shape.width * shape.channels;
    const T* high = picture + y.high * shape.width * shape.channels;
    for (int j = columns.first; j < columns.last; ++j) {
      const RoiPoint<float> x = roi_point(axes.x, bin_x, j, width);
      if (x.of_low == 0 && x.of_high == 0) continue;
      const float of_low = y.of_low * share, of_high = y.of_high * share;
      add_pack<W>(sums, low + x.low * shape.channels, of_low * x.of_low);
      add_pack<W>(sums, low + x.high * shape.channels, of_low * x.of_high);
      add_pack<W>(sums, high + x.low * shape.channels, of_high * x.of_low);
      add_pack<W>(sums, high + x.high * shape.channels, of_high * x.of_high);
    }
  }
}

template <class T, int W>
__global__ void __launch_bounds__(roi_threads) roi_align_kernel(RoiAlignForward launch) {
  const RoiAlignShape& shape = launch.shape;
  const std::int64_t roi = blockIdx.x / shape.bins_y;
  const int bin_y = static_cast<int>(blockIdx.x % shape.bins_y);
  const std::int64_t picture = shape.pictures[roi];
  LOCKSTEP_DEVICE_ASSERT(picture < shape.rows && "a box of a picture that is not there");
  RoiAxes axes = axes_of(shape, roi);
  if (picture < 0) axes.y.points = 0;
  const auto* from = static_cast<const T*>(launch.features) +
                     (picture < 0 ? 0 : picture) * shape.height * shape.width * shape.channels;
  auto* to = static_cast<T*>(launch.out) +
             static_cast<std::int64_t>(blockIdx.x) * shape.bins_x * shape.channels;
  const int groups = static_cast<int>(shape.channels / W);
  for (int i = static_cast<int>(threadIdx.x); i < shape.bins_x * groups; i += blockDim.x) {
    const std::int64_t channel = static_cast<std::int64_t>(i % groups) * W;
    float sums[W] = {};
    if (axes.y.points > 0 && axes.x.points > 0)
      mean_of_bin<W>(shape, axes, bin_y, i / groups, from + channel, sums);
    store_sums<W>(sums, to + i / groups * shape.channels + channel);
  }
}

// Whether some of a box's points may lie less than one cell away from this cell, along one axis.
__device__ bool may_reach(const RoiAxis<float>& axis, int bins, int cell) {
  const float end = axis.start + bins * axis.bin;
  const float slack = (fabsf(axis.start) + fabsf(end)) * (1.0F / (1 << 20));
  return axis.points > 0 && fmaxf(axis.start, end) + slack >= cell - 1.0F &&
         fminf(axis.start, end) - slack <= cell + 1.0F;
}

// The weight of a cell in a bin, along one axis.
__device__ float weight_of(const RoiAxis<float>& axis, int bin, int cell, int cells) {
  float sum = 0;
  const RoiRange near = roi_range(axis, bin, cell - 1.0F, cell + 1.0F);
  for (int i = near.first; i < near.last; ++i) {
    const RoiPoint<float> point = roi_point(axis, bin, i, cells);
    if (point.low == cell) sum += point.of_low;
    if (point.high == cell) sum += point.of_high;
  }
  return sum / axis.points;
}

// A batch of boxes that a cell contributes to, as a warp reads them. `weights` are the cell's
// weights in `count` boxes, [count, bins_y + bins_x]. `boxes` are the indices of these boxes.
struct CellWeights {
  const float* weights;
  const int* boxes;
  int count;
};

// Adds the contributions that one part of the threads takes, in the order of the boxes and of their
// bins. All threads of a warp call it. of_channel: the gradient of the thread's first channel in
// the first bin of the first box, or null for a thread without channels.
template <int W, class T>
__device__ void add_boxes(const RoiAlignShape& shape, const CellWeights& cell, int part, int parts,
                          const T* of_channel, float (&sums)[W]) {
  constexpr int at_once = 4;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int across = shape.bins_x, pairs = shape.bins_y * across, bins = shape.bins_y + across;
  for (int base = 32 * part; base < cell.count * pairs; base += 32 * parts) {
    float weight = 0;
    std::int64_t bin = 0;
    if (base + lane < cell.count * pairs) {
      const int box = (base + lane) / pairs, pair = base + lane - box * pairs;
      const float* const of_box = cell.weights + box * bins;
      weight = of_box[pair / across] * of_box[shape.bins_y + pair % across];
      bin = static_cast<std::int64_t>(cell.boxes[box]) * pairs + pair;
    }
    unsigned left = __ballot_sync(0xffffffffU, weight != 0);
    while (left != 0) {
      Pack<T, W> values[at_once];
      float factors[at_once];
#pragma unroll
      for (int u = 0; u < at_once; ++u) {
        const int from = left == 0 ? 0 : __ffs(static_cast<int>(left)) - 1;
        factors[u] = __shfl_sync(0xffffffffU, weight, from);
        const std::int64_t at = __shfl_sync(0xffffffffU, bin, from);
        if (left == 0) factors[u] = 0;
        if (left != 0 && of_channel != nullptr)
          values[u] = Pack<T, W>::at(of_channel + at * shape.channels);
        left &= left - 1;
      }
#pragma unroll
      for (int u = 0; u < at_once; ++u)
        if (factors[u] != 0 && of_channel != nullptr)
#pragma unroll
          for (int i = 0; i < W; ++i) sums[i] += factors[u] * values[u][i];
    }
  }
}

constexpr int roi_weights = 8 * roi_align_most_bins;  // for the boxes that are processed together

// across: the threads of a part, a multiple of the warp size. With several parts, the launch must
// also provide shared memory for of_parts.
template <class T, int W>
__global__ void __launch_bounds__(roi_threads)
    roi_align_gradient_kernel(RoiAlignBackward launch, int across) {
  const RoiAlignShape& shape = launch.shape;
  const int height = static_cast<int>(shape.height), width = static_cast<int>(shape.width);
  const int x = static_cast<int>(blockIdx.x % width),
            y = static_cast<int>(blockIdx.x / width % height);
  const std::int64_t picture = blockIdx.x / width / height;
  const int tid = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  const int part = tid / across, parts = threads / across;
  const std::int64_t channel = (static_cast<std::int64_t>(blockIdx.y) * across + tid % across) * W;
  const T* const of_channel = channel < shape.channels
                                  ? static_cast<const T*>(launch.of_out) + channel
                                  : static_cast<const T*>(nullptr);
  const int bins = shape.bins_y + shape.bins_x, boxes_at_once = roi_weights / bins;
  // used alternately, because other warps may still read the last one
  __shared__ unsigned reaching[2][roi_warps];
  __shared__ int boxes[roi_threads];
  // the cell's weights per box: bins_y down, then bins_x across
  __shared__ float weights[roi_weights];
  extern __shared__ float of_parts[];  // [W, threads]
  float sums[W] = {};
  int turn = 0;
  for (std::int64_t base = 0; base < shape.rois; base += threads, turn ^= 1) {
    const std::int64_t candidate = base + tid;
    bool reaches = candidate < shape.rois && shape.pictures[candidate] == picture;
    if (reaches) {
      const RoiAxes axes = axes_of(shape, candidate);
      reaches = may_reach(axes.y, shape.bins_y, y) && may_reach(axes.x, shape.bins_x, x);
    }
    const unsigned votes = __ballot_sync(0xffffffffU, reaches);
    if (tid % 32 == 0) reaching[turn][tid / 32] = votes;
    __syncthreads();
    int count = 0, before = __popc(votes & ((1U << tid % 32) - 1));
    for (int warp = 0; warp < threads / 32; ++warp) {
      if (warp < tid / 32) before += __popc(reaching[turn][warp]);
      count += __popc(reaching[turn][warp]);
    }
    if (reaches) boxes[before] = static_cast<int>(candidate);
    for (int first = 0; first < count; first += boxes_at_once) {
      __syncthreads();
      const int some = min(boxes_at_once, count - first);
      for (int i = tid; i < some * bins; i += threads) {
        const int box = i / bins, bin = i - box * bins;
        const RoiAxes axes = axes_of(shape, boxes[first + box]);
        weights[i] = bin < shape.bins_y ? weight_of(axes.y, bin, y, height)
                                        : weight_of(axes.x, bin - shape.bins_y, x, width);
      }
      __syncthreads();
      add_boxes<W>(shape, {.weights = weights, .boxes = boxes + first, .count = some}, part, parts,
                   of_channel, sums);
    }
  }
  if (parts > 1) {
#pragma unroll
    for (int i = 0; i < W; ++i) of_parts[i * threads + tid] = sums[i];
    __syncthreads();
    if (part > 0) return;
    for (int other = 1; other < parts; ++other)
#pragma unroll
      for (int i = 0; i < W; ++i) sums[i] += of_parts[i * threads + other * across + tid];
  }
  if (of_channel != nullptr)
    store_sums<W>(sums, static_cast<T*>(launch.of_features) +
                            static_cast<std::int64_t>(blockIdx.x) * shape.channels + channel);
}

// Calls `function` with an element and the vector width as types.
template <class Function>
cudaError_t with_channels(const RoiAlignShape& shape, const Function& function) {
  if (shape.height * shape.width > INT_MAX || shape.channels > INT_MAX / roi_align_most_bins)
    return cudaErrorInvalidValue;
  return with_type(shape.dtype, [&](auto element) {
    return shape.channels % 8 == 0 ? function(element, Width<8>()) : function(element, Width<1>());
  });
}

}  // namespace

cudaError_t launch_roi_align_forward(const RoiAlignForward& launch, cudaStream_t stream) {
  const std::int64_t blocks = launch.shape.rois * launch.shape.bins_y;
  if (blocks > INT_MAX) return cudaErrorInvalidConfiguration;
  return with_channels(launch.shape, [&](auto element, auto vector) {
    using T = decltype(element);
    constexpr int W = decltype(vector)::value;
    roi_align_kernel<T, W><<<static_cast<unsigned>(blocks), roi_threads, 0, stream>>>(launch);
    return cudaGetLastError();
  });
}

cudaError_t launch_roi_align_backward(const RoiAlignBackward& launch, cudaStream_t stream) {
  const RoiAlignShape& shape = launch.shape;
  const std::int64_t cells = shape.rows * shape.height * shape.width;
  if (cells > INT_MAX || shape.rois > INT_MAX) return cudaErrorInvalidConfiguration;
  return with_channels(shape, [&](auto element, auto vector) {
    using T = decltype(element);
    constexpr int W = decltype(vector)::value;
    const std::int64_t groups = shape.channels / W;
    const std::int64_t across = groups < roi_threads ? (groups + 31) / 32 * 32 : roi_threads;
    const std::int64_t slabs = (groups + across - 1) / across;
    if (slabs > 65535) return cudaErrorInvalidConfiguration;
    const dim3 blocks(static_cast<unsigned>(cells), static_cast<unsigned>(slabs));
    // If a picture has only one or two boxes, more blocks per processor gain more than several
    // parts.
    const std::int64_t parts = shape.rois > 2 * shape.rows ? roi_threads / across : 1;
    const auto threads = static_cast<unsigned>(parts * across);
    const std::size_t bytes = parts > 1 ? threads * W * sizeof(float) : 0;
    roi_align_gradient_kernel<T, W>
        <<<blocks, threads, bytes, stream>>>(launch, static_cast<int>(across));
    return cudaGetLastError();
  });
}

}  // namespace lockstep
