// How long the metrics of a segmented volume take: curved sheets that are 5 % of the volume, and a
// prediction of them with holes, shifts and specks. Prints a line per metric.
//   bench-volume-metrics [EXTENT]      320 by default
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "recipes/volume/metrics/components.h"
#include "recipes/volume/metrics/overlap.h"
#include "recipes/volume/metrics/score.h"

namespace {

using namespace lockstep::volume;

std::uint32_t mix(std::uint64_t value) {
  value = (value ^ value >> 31) * 0x9e3779b97f4a7c15;
  return static_cast<std::uint32_t>((value ^ value >> 29) * 0xbf58476d1ce4e5b9 >> 32);
}

// Sheets 2 voxels thick, 40 apart; `noise` moves, pierces and adds to them.
std::vector<std::uint8_t> sheets(std::int64_t extent, bool noise) {
  std::vector<std::uint8_t> labels;
  labels.reserve(static_cast<std::size_t>(extent * extent * extent));
  for (std::int64_t z = 0; z < extent; ++z)
    for (std::int64_t y = 0; y < extent; ++y)
      for (std::int64_t x = 0; x < extent; ++x) {
        const double bend = 9 * std::sin(static_cast<double>(y) / 31) +
                            5 * std::cos(static_cast<double>(x) / 23) +
                            (noise && x % 97 < 9 ? 1 : 0);
        const double place = std::fmod(static_cast<double>(z) + bend + 80, 40);
        const std::uint32_t random = mix(labels.size());
        const bool hole = noise && mix(static_cast<std::uint64_t>(x / 8 + 64 * (y / 8))) % 50 == 0;
        const bool speck = noise && random % 2000 == 0;
        const bool ignored = !noise && x < extent / 16;
        const auto surface = static_cast<std::uint8_t>((place < 2 && !hole) || speck);
        labels.push_back(ignored ? 2 : surface);
      }
  return labels;
}

template <typename Work>
void measure(const char* what, Work work) {
  const auto start = std::chrono::steady_clock::now();
  const double value = work();
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  std::printf("%-22s %7.3f s   %.6g\n", what, taken.count(), value);
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t extent = argc > 1 ? std::atoi(argv[1]) : 320;
  const Shape shape{extent, extent, extent};
  const std::vector<std::uint8_t> truth = sheets(extent, false);
  const std::vector<std::uint8_t> predicted = sheets(extent, true);
  const std::span<const std::uint8_t> t(truth), p(predicted);
  const Mask truth_mask = foreground(t, t, shape, 2);
  const Mask predicted_mask = foreground(p, t, shape, 2);
  std::printf("foreground %.3f and %.3f of the volume\n",
              static_cast<double>(truth_mask.count()) / static_cast<double>(truth.size()),
              static_cast<double>(predicted_mask.count()) / static_cast<double>(truth.size()));
  measure("dice", [&] { return dice(overlap(t, p, 2, 2)[1]); });
  measure("masks", [&] { return static_cast<double>(foreground(p, t, shape, 2).count()); });
  measure("components", [&] {
    return static_cast<double>(components(predicted_mask, Connectivity::corners_26).sizes.size());
  });
  measure("topology, 2x2x2 tiles", [&] {
    return topology_score(topology_counts(truth_mask, predicted_mask, {2, 2, 2}));
  });
  for (const double tolerance : {2.0, 20.0})
    measure(tolerance > 2 ? "surface dice at 20" : "surface dice at 2", [&] {
      return surface_dice(surface_counts(truth_mask, predicted_mask, {1, 1, 1}, tolerance));
    });
  measure("voi", [&] { return voi_score(variation_of_information(truth_mask, predicted_mask)); });
  measure("score, all of it", [&] { return competition_score(t, p, shape).score; });
}
