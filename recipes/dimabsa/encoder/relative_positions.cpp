// Uses only element-wise operations, so it runs on any device.
#include "recipes/dimabsa/encoder/relative_positions.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/where.h>

#include <cmath>

namespace lockstep::dimabsa {
namespace {

at::Tensor bucket_of(const at::Tensor& distance, const EncoderShape& shape) {
  const std::int64_t middle = shape.position_buckets / 2;
  const auto most = static_cast<float>(shape.max_relative_positions - 1);
  const float range = std::log(most / static_cast<float>(middle));
  const at::Tensor far = distance.abs().clamp_min(middle).to(at::kFloat);
  const at::Tensor bucket =
      far.div(middle).log().div(range).mul(middle - 1).ceil().add(middle).to(at::kLong);
  return at::where(distance.abs().le(middle), distance, bucket * distance.sign());
}

}  // namespace

at::Tensor relative_rows(const at::Tensor& positions, const EncoderShape& shape) {
  const at::Tensor distance = positions.unsqueeze(2) - positions.unsqueeze(1);
  const at::Tensor bucket = shape.position_buckets > 0 ? bucket_of(distance, shape) : distance;
  return bucket.add(shape.distances()).clamp(0, 2 * shape.distances() - 1);
}

}  // namespace lockstep::dimabsa
