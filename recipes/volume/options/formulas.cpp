// Formulas for the parameters, memory and FLOPs of the U-Net.
#include <algorithm>
#include <cmath>

#include "planning/memory/memory.h"
#include "recipes/volume/options/volume_options.h"

namespace lockstep::volume {
namespace {

constexpr std::int64_t gate_weights = 686;  // a convolution of 7 x 7 x 7 over two maps

std::int64_t width_at(const NetShape& shape, std::int64_t level) { return shape.width << level; }

std::int64_t block_parameters(std::int64_t in, std::int64_t out) {
  return 27 * in * out + 27 * out * out + (in == out ? 0 : in * out);
}

double voxels_at(const std::array<std::int64_t, 3>& patch, std::int64_t level) {
  double voxels = 1;
  for (const std::int64_t size : patch)
    voxels *= std::ldexp(static_cast<double>(size), static_cast<int>(-level));
  return voxels;
}

}  // namespace

std::int64_t parameter_count(const NetShape& shape) {
  std::int64_t count = 0;
  for (std::int64_t level = 0; level <= shape.depth; ++level)
    count += block_parameters(level == 0 ? shape.channels : width_at(shape, level - 1),
                              width_at(shape, level));
  for (std::int64_t level = 0; level < shape.depth; ++level) {
    const std::int64_t width = width_at(shape, level);
    count += 16 * width * width + width;  // a transposed convolution and its bias
    count += block_parameters(2 * width, width);
    if (shape.attention) count += 2 * width * bottleneck(width) + gate_weights;
    if (level == 0 || shape.deep_supervision) count += (width + 1) * shape.outputs;
  }
  return count;
}

std::int64_t bottleneck(std::int64_t width) { return std::max<std::int64_t>(1, width / 16); }

// Elements that a patch keeps for backward, in the computing type, per voxel of a level of width W.
// A block keeps 5 W: two convolution results, the first normalized result, its output, and the
// result of the skip's convolution. The decoder of a level also keeps the concatenation, the
// upsampled map, the gated map and the attention map. A level with both takes 16 W, or 14 W without
// attention. The loss keeps 12 bytes per voxel and output.
MemoryEstimate VolumeOptions::memory(const TrainOptions& train, const Facts& facts) const {
  const NetShape shape = net(std::max<std::int64_t>(1, data.channels));
  const bool low = train.precision != Precision::fp32;
  const double element = low ? 2 : 4;
  const std::array<std::int64_t, 3> sizes = patch();
  double elements = 0, widest = 0;
  for (std::int64_t level = 0; level <= shape.depth; ++level) {
    const double values = static_cast<double>(width_at(shape, level)) * voxels_at(sizes, level);
    elements += (level == shape.depth ? 5 : shape.attention ? 16 : 14) * values;
    widest = std::max(widest, values);
  }
  const double optimizer = optimizer_bytes_per_parameter(train);
  const double parameters =
      static_cast<double>(facts.parameters != 0 ? facts.parameters : parameter_count(shape));
  constexpr double workspaces = 512.0 * 1024 * 1024;  // workspaces of cuDNN
  return {.fixed_bytes = parameters * (weight_bytes_per_parameter(train) + optimizer) + workspaces,
          .per_sample_bytes =
              element * elements + voxels_at(sizes, 0) * 12 * static_cast<double>(outputs()),
          .optimizer_bytes = parameters * optimizer,
          .backward_bytes = 3 * element * widest};
}

// A multiplication in a convolution counts 6 FLOPs: 2 forward and 4 backward. Norms, pooling,
// products with gates and the loss are not counted.
std::optional<double> VolumeOptions::flops_per_sample(const Facts&) const {
  const NetShape shape = net(std::max<std::int64_t>(1, data.channels));
  const std::array<std::int64_t, 3> sizes = patch();
  double products = 0;
  for (std::int64_t level = 0; level <= shape.depth; ++level)
    products +=
        voxels_at(sizes, level) *
        static_cast<double>(block_parameters(
            level == 0 ? shape.channels : width_at(shape, level - 1), width_at(shape, level)));
  for (std::int64_t level = 0; level < shape.depth; ++level) {
    const std::int64_t width = width_at(shape, level);
    const double fine = voxels_at(sizes, level);
    // each output voxel uses one of eight taps
    products += fine * static_cast<double>(2 * width * width);
    products += fine * static_cast<double>(block_parameters(2 * width, width));
    if (shape.attention) products += fine * static_cast<double>(gate_weights);
    if (level == 0 || shape.deep_supervision)
      products += fine * static_cast<double>(width * shape.outputs);
  }
  return 6 * products;
}

double VolumeOptions::passes_over(const std::array<std::int64_t, 3>& extents) const {
  const std::array<std::int64_t, 3> sizes = patch();
  constexpr double flips_of_three_axes = 8;
  double passes = predict.flips ? flips_of_three_axes : 1;
  for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
    const auto shared =
        static_cast<std::int64_t>(static_cast<double>(sizes[axis]) * predict.overlap);
    const std::int64_t step = std::max<std::int64_t>(1, sizes[axis] - shared);
    const std::int64_t beyond_the_first = std::max<std::int64_t>(0, extents[axis] - sizes[axis]);
    passes *= static_cast<double>((beyond_the_first + step - 1) / step + 1);
  }
  return passes;
}

}  // namespace lockstep::volume
