#include "recipes/volume/metrics/score.h"

#include <cmath>

#include "core/base/error.h"
#include "core/base/text/text.h"

namespace lockstep::volume {
namespace {

void check_weights(const char* what, const std::array<double, 3>& weights) {
  double sum = 0;
  for (const double weight : weights) {
    if (!std::isfinite(weight) || weight < 0) sum = -1;
    if (sum >= 0) sum += weight;
  }
  if (sum <= 0)
    throw Error(
        cat("the weights of the ", what, " are ", weights[0], " ", weights[1], " ", weights[2]),
        "three numbers of at least 0, one of them above");
}

}  // namespace

VolumeScore competition_score(const Mask& truth, const Mask& predicted,
                              const ScoreOptions& options) {
  check_weights("score", options.weights);
  check_weights("topology score", options.topology_weights);
  if (!std::isfinite(options.voi_alpha) || options.voi_alpha < 0)
    throw Error(cat("a VOI factor of ", options.voi_alpha, " cannot be"), "at least 0, e.g. 0.3");
  VolumeScore result;
  result.topology = topology_counts(truth, predicted, options.tiles);
  result.surface = surface_counts(truth, predicted, options.spacing, options.tolerance);
  result.voi = variation_of_information(truth, predicted);
  result.topology_score = topology_score(result.topology, options.topology_weights);
  result.surface_dice = surface_dice(result.surface);
  result.voi_score = voi_score(result.voi, options.voi_alpha);
  const auto& [topology, surface, voi] = options.weights;
  result.score =
      (topology * result.topology_score + surface * result.surface_dice + voi * result.voi_score) /
      (topology + surface + voi);
  return result;
}

template <typename Label>
Mask foreground(std::span<const Label> labels, std::span<const Label> truth, const Shape& shape,
                std::optional<std::int64_t> ignore) {
  check_shape("the truth", shape, truth.size());
  check_shape("the prediction", shape, labels.size());
  if (!ignore) return Mask::where(shape, [&](std::size_t i) { return labels[i] != 0; });
  return Mask::where(
      shape, [&](std::size_t i) { return labels[i] != 0 && std::int64_t{truth[i]} != *ignore; });
}

template <typename Label>
VolumeScore competition_score(std::span<const Label> truth, std::span<const Label> predicted,
                              const Shape& shape, const ScoreOptions& options) {
  return competition_score(foreground(truth, truth, shape, options.ignore),
                           foreground(predicted, truth, shape, options.ignore), options);
}

#define INSTANTIATE(Label)                                                               \
  template Mask foreground(std::span<const Label>, std::span<const Label>, const Shape&, \
                           std::optional<std::int64_t>);                                 \
  template VolumeScore competition_score(std::span<const Label>, std::span<const Label>, \
                                         const Shape&, const ScoreOptions&);
INSTANTIATE(std::uint8_t)
INSTANTIATE(std::uint16_t)
INSTANTIATE(std::int32_t)
#undef INSTANTIATE

}  // namespace lockstep::volume
