// Writes what volume-metrics finds for a pair of masks, for volume_metrics_test.py to compare.
//   dump-volume-metrics TRUTH PREDICTED DEPTH HEIGHT WIDTH SPACING_Z SPACING_Y SPACING_X TOLERANCE
//   OUT
// TRUTH and PREDICTED hold a byte per voxel. Writes OUT.labels26 and OUT.labels6 (int32) and
// OUT.squared (float32) of the truth, and numbers to stdout, a name and a value per line.
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>

#include "core/base/files/files.h"
#include "recipes/volume/metrics/components.h"
#include "recipes/volume/metrics/distance.h"
#include "recipes/volume/metrics/hausdorff.h"
#include "recipes/volume/metrics/overlap.h"
#include "recipes/volume/metrics/score.h"

namespace {

using namespace lockstep::volume;

template <typename Value>
void write(const std::string& path, const std::vector<Value>& values) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr ||
      std::fwrite(values.data(), sizeof(Value), values.size(), file) != values.size())
    std::exit(1);
  std::fclose(file);
}

Mask read(const char* path, const Shape& shape) {
  const std::string bytes = lockstep::read_file(path);
  check_shape(path, shape, bytes.size());
  return Mask::where(shape, [&](std::size_t i) { return bytes[i] != 0; });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 11) return 2;
  const Shape shape{std::atoi(argv[3]), std::atoi(argv[4]), std::atoi(argv[5])};
  const Spacing spacing{std::atof(argv[6]), std::atof(argv[7]), std::atof(argv[8])};
  const Mask truth = read(argv[1], shape);
  const Mask predicted = read(argv[2], shape);
  const std::string out = argv[10];
  write(out + ".labels26", dense_labels(components(truth, Connectivity::corners_26)));
  write(out + ".labels6", dense_labels(components(truth, Connectivity::faces_6)));
  write(out + ".squared", squared_distances(truth, spacing));
  const SurfaceCounts surface = surface_counts(truth, predicted, spacing, std::atof(argv[9]));
  const VariationOfInformation voi = variation_of_information(truth, predicted);
  const BettiNumbers betti = betti_numbers(truth);
  std::printf("truth %lld\ntruth_near %lld\npredicted %lld\npredicted_near %lld\n",
              static_cast<long long>(surface.truth), static_cast<long long>(surface.truth_near),
              static_cast<long long>(surface.predicted),
              static_cast<long long>(surface.predicted_near));
  std::printf("split %.17g\nmerge %.17g\neuler %lld\n", voi.split, voi.merge,
              static_cast<long long>(euler_number(truth)));
  Mask both = truth;
  both.keep_where(predicted);
  std::printf(
      "dice %.17g\nhd95 %.17g\n",
      dice({.truth = truth.count(), .predicted = predicted.count(), .both = both.count()}),
      hausdorff_95(truth, predicted, spacing).value_or(std::numeric_limits<double>::quiet_NaN()));
  std::printf("b0 %lld\nb1 %lld\nb2 %lld\n", static_cast<long long>(betti[0]),
              static_cast<long long>(betti[1]), static_cast<long long>(betti[2]));
}
