// Chosen boxes. A thread handles a box.
#include "ops/chosen_boxes/chosen_boxes_launch.h"
#include "ops/shared/device/device_assert.cuh"
#include "ops/shared/device/runs.cuh"

#include <climits>

namespace lockstep {
namespace {

constexpr int threads = 128;

__global__ void __launch_bounds__(threads) decode_kernel(DecodeChosen launch) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  if (i >= launch.sets * launch.count) return;
  const std::int64_t row = launch.chosen[i];
  LOCKSTEP_DEVICE_ASSERT(row >= 0 && row < launch.rows && "rows that are chosen are there");
  const auto element = static_cast<std::uint32_t>(i / launch.count * launch.rows + row);
  const Corners deltas = load_four(launch.dtype, launch.deltas, launch.runs, element);
  const Corners anchor = corners_at(launch.anchors, row % launch.anchor_count);
  reinterpret_cast<Corners*>(launch.boxes)[i] =
      clipped(decoded(deltas, anchor, launch.coding), launch.height, launch.width);
}

__global__ void __launch_bounds__(threads) gather_kernel(GatherBoxes launch) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  if (i >= launch.sets * launch.kept) return;
  const std::int64_t index = launch.index[i];
  LOCKSTEP_DEVICE_ASSERT(index < launch.count && "indices are below the number of boxes");
  Corners box{0, 0, 0, 0};
  if (index >= 0) box = corners_at(launch.boxes, i / launch.kept * launch.count + index);
  reinterpret_cast<Corners*>(launch.out)[i] = box;
  launch.known[i] = index >= 0;
}

__global__ void __launch_bounds__(threads) flip_kernel(FlipBoxes launch) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  if (i >= launch.pictures * launch.count) return;
  Corners box = corners_at(launch.boxes, i);
  if (launch.numbers[i / launch.count * launch.step] < 0.5F)
    box = {launch.width - box.x2, box.y1, launch.width - box.x1, box.y2};
  reinterpret_cast<Corners*>(launch.out)[i] = box;
}

// Returns 0 if there are too many blocks for a launch.
unsigned blocks_of(std::int64_t count) {
  const std::int64_t blocks = (count + threads - 1) / threads;
  return blocks > INT_MAX ? 0 : static_cast<unsigned>(blocks);
}

}  // namespace

cudaError_t launch_decode_chosen(const DecodeChosen& launch, cudaStream_t stream) {
  const unsigned blocks = blocks_of(launch.sets * launch.count);
  if (blocks == 0) return cudaErrorInvalidConfiguration;
  decode_kernel<<<blocks, threads, 0, stream>>>(launch);
  return cudaGetLastError();
}

cudaError_t launch_gather_boxes(const GatherBoxes& launch, cudaStream_t stream) {
  const unsigned blocks = blocks_of(launch.sets * launch.kept);
  if (blocks == 0) return cudaErrorInvalidConfiguration;
  gather_kernel<<<blocks, threads, 0, stream>>>(launch);
  return cudaGetLastError();
}

cudaError_t launch_flip_boxes(const FlipBoxes& launch, cudaStream_t stream) {
  const unsigned blocks = blocks_of(launch.pictures * launch.count);
  if (blocks == 0) return cudaErrorInvalidConfiguration;
  flip_kernel<<<blocks, threads, 0, stream>>>(launch);
  return cudaGetLastError();
}

}  // namespace lockstep
