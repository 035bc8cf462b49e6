// Losses of a detector's rows. A thread handles a row. Forward sums the losses of each block's
// rows, then a single block sums over all blocks. Backward computes each row again for its
// gradient.
#include "ops/detection_loss/detection_loss_inline.h"
#include "ops/detection_loss/detection_loss_launch.h"
#include "ops/shared/device/device_assert.cuh"
#include "ops/shared/device/runs.cuh"

namespace lockstep {
namespace {

constexpr int threads = 256, warps = threads / 32;

struct TwoSums {
  float classes = 0, boxes = 0;
};

// The sum over all threads of the block; only the first thread gets it.
__device__ TwoSums block_sum(TwoSums sums) {
  __shared__ float of_warps[2][warps];
  sums.classes = warp_sum(sums.classes);
  sums.boxes = warp_sum(sums.boxes);
  if (threadIdx.x % 32 == 0) {
    of_warps[0][threadIdx.x / 32] = sums.classes;
    of_warps[1][threadIdx.x / 32] = sums.boxes;
  }
  __syncthreads();
  TwoSums all;
  if (threadIdx.x != 0) return all;
  for (int warp = 0; warp < warps; ++warp) {
    all.classes += of_warps[0][warp];
    all.boxes += of_warps[1][warp];
  }
  return all;
}

__device__ float weight_of(const DetectionLossArguments& rows, std::uint32_t row) {
  const float weight = rows.weight[row];
  return rows.picture_weight == nullptr ? weight
                                        : weight * rows.picture_weight[row / rows.rows_per_picture];
}

__device__ float logit_of(const DetectionLossArguments& rows, std::uint32_t element) {
  return load_as(rows.logits_dtype, rows.logits, place_of(rows.logits_runs, element));
}

__device__ std::int64_t label_of(const DetectionLossArguments& rows, std::uint32_t row) {
  const std::int64_t label = rows.label[row];
  LOCKSTEP_DEVICE_ASSERT(label < static_cast<std::int64_t>(rows.columns) &&
                         "labels are below the number of classes");
  return label;
}

__device__ float class_cost(const DetectionLossArguments& rows, std::uint32_t row, bool positive) {
  if (rows.label == nullptr) return binary_cross_entropy_of(logit_of(rows, row), positive).cost;
  const std::int64_t label = label_of(rows, row);
  if (label < 0) return 0;
  const std::uint32_t first = row * rows.columns;
  const RowEntropy entropy =
      row_entropy(rows.columns, [&](unsigned i) { return logit_of(rows, first + i); });
  return entropy.log_of_rest -
         (logit_of(rows, first + static_cast<std::uint32_t>(label)) - entropy.largest);
}

// The row's deltas minus its target deltas.
__device__ Corners box_error(const DetectionLossArguments& rows, std::uint32_t row) {
  const Corners found = load_four(rows.deltas_dtype, rows.deltas, rows.deltas_runs, row);
  const Corners wanted =
      encoded(corners_at(rows.box, row), corners_at(rows.from, row % rows.from_rows), rows.coding);
  return {found.x1 - wanted.x1, found.y1 - wanted.y1, found.x2 - wanted.x2, found.y2 - wanted.y2};
}

__device__ float box_cost(const DetectionLossArguments& rows, std::uint32_t row) {
  const Corners error = box_error(rows, row);
  return (smooth_l1_of(error.x1, rows.beta).cost + smooth_l1_of(error.y1, rows.beta).cost) +
         (smooth_l1_of(error.x2, rows.beta).cost + smooth_l1_of(error.y2, rows.beta).cost);
}

__device__ void write_sums(const DetectionLossForward& launch, const TwoSums& sums) {
  *launch.of_classes = sums.classes * launch.rows.class_factor;
  *launch.of_boxes = sums.boxes * launch.rows.box_factor;
}

__global__ void __launch_bounds__(threads) row_costs_kernel(DetectionLossForward launch) {
  const DetectionLossArguments& rows = launch.rows;
  constexpr auto chunk = static_cast<std::uint32_t>(detection_loss_chunk);
  const std::uint32_t first = blockIdx.x * chunk;
  const std::uint32_t end = rows.rows - first < chunk ? rows.rows : first + chunk;
  TwoSums sums;
  for (std::uint32_t row = first + threadIdx.x; row < end; row += threads) {
    const float weight = weight_of(rows, row);
    const bool positive = rows.positive[row];
    sums.classes += weight * class_cost(rows, row, positive);
    if (positive) sums.boxes += weight * box_cost(rows, row);
  }
  const TwoSums all = block_sum(sums);
  if (threadIdx.x != 0) return;
  if (rows.blocks == 1) {
    write_sums(launch, all);
  } else {
    launch.partial[2 * std::int64_t{blockIdx.x}] = all.classes;
    launch.partial[2 * std::int64_t{blockIdx.x} + 1] = all.boxes;
  }
}

__global__ void __launch_bounds__(threads) finish_costs_kernel(DetectionLossForward launch) {
  TwoSums sums;
  for (std::uint32_t block = threadIdx.x; block < launch.rows.blocks; block += threads) {
    sums.classes += launch.partial[2 * std::int64_t{block}];
    sums.boxes += launch.partial[2 * std::int64_t{block} + 1];
  }
  const TwoSums all = block_sum(sums);
  if (threadIdx.x == 0) write_sums(launch, all);
}

__device__ void write_class_gradient(const DetectionLossBackward& launch, std::uint32_t row,
                                     float factor) {
  const DetectionLossArguments& rows = launch.rows;
  if (rows.label == nullptr) {
    const float slope = binary_cross_entropy_of(logit_of(rows, row), rows.positive[row]).slope;
    store_as(rows.logits_dtype, factor * slope, launch.of_logits, row);
    return;
  }
  const std::int64_t label = label_of(rows, row);
  const std::uint32_t first = row * rows.columns;
  RowEntropy entropy{};
  if (label >= 0)
    entropy = row_entropy(rows.columns, [&](unsigned i) { return logit_of(rows, first + i); });
  for (std::uint32_t i = 0; i < rows.columns; ++i) {
    float gradient = 0;
    if (label >= 0) {
      const float p = expf(logit_of(rows, first + i) - entropy.largest - entropy.log_of_rest);
      gradient = factor * (i == label ? p - 1 : p);
    }
    store_as(rows.logits_dtype, gradient, launch.of_logits, first + i);
  }
}

__global__ void __launch_bounds__(threads) row_gradients_kernel(DetectionLossBackward launch) {
  const DetectionLossArguments& rows = launch.rows;
  const std::uint32_t row = blockIdx.x * threads + threadIdx.x;
  if (row >= rows.rows) return;
  const float weight = weight_of(rows, row);
  if (launch.of_logits != nullptr)
    write_class_gradient(
        launch, row,
        launch.of_classes == nullptr ? 0.0F : *launch.of_classes * rows.class_factor * weight);
  if (launch.of_deltas == nullptr) return;
  Corners gradient{0, 0, 0, 0};
  if (rows.positive[row] && launch.of_boxes != nullptr) {
    const float factor = *launch.of_boxes * rows.box_factor * weight;
    const Corners error = box_error(rows, row);
    gradient = {factor * smooth_l1_of(error.x1, rows.beta).slope,
                factor * smooth_l1_of(error.y1, rows.beta).slope,
                factor * smooth_l1_of(error.x2, rows.beta).slope,
                factor * smooth_l1_of(error.y2, rows.beta).slope};
  }
  store_four(rows.deltas_dtype, gradient, launch.of_deltas, row);
}

}  // namespace

cudaError_t launch_detection_loss_forward(const DetectionLossForward& launch, cudaStream_t stream) {
  if (launch.rows.rows == 0 || launch.rows.blocks == 0) return cudaErrorInvalidConfiguration;
  row_costs_kernel<<<launch.rows.blocks, threads, 0, stream>>>(launch);
  if (launch.rows.blocks > 1) finish_costs_kernel<<<1, threads, 0, stream>>>(launch);
  return cudaGetLastError();
}

cudaError_t launch_detection_loss_backward(const DetectionLossBackward& launch,
                                           cudaStream_t stream) {
  if (launch.rows.rows == 0) return cudaErrorInvalidConfiguration;
  row_gradients_kernel<<<(launch.rows.rows - 1) / threads + 1, threads, 0, stream>>>(launch);
  return cudaGetLastError();
}

}  // namespace lockstep
