#include "recipes/volume/metrics/hausdorff.h"

#include "core/base/error.h"
#include "tests/unit/volume-metrics/brute_force.h"

namespace lockstep::volume {
namespace {

Mask block(const Shape& shape, const Shape& begin, const Shape& end) {
  return draw(shape, [&](std::int64_t z, std::int64_t y, std::int64_t x) {
    return z >= begin[0] && z < end[0] && y >= begin[1] && y < end[1] && x >= begin[2] &&
           x < end[2];
  });
}

TEST(SurfaceVoxels, HaveABackgroundVoxelBesideAFace) {
  for (const Mask& mask : random_masks()) {
    const Mask surface = surface_voxels(mask);
    const auto [depth, height, width] = mask.shape();
    const auto is_set = [&](std::int64_t z, std::int64_t y, std::int64_t x) {
      return z >= 0 && y >= 0 && x >= 0 && z < depth && y < height && x < width && mask.at(z, y, x);
    };
    for (const auto& [z, y, x] : brute::voxels(mask.shape())) {
      const bool inside = is_set(z - 1, y, x) && is_set(z + 1, y, x) && is_set(z, y - 1, x) &&
                          is_set(z, y + 1, x) && is_set(z, y, x - 1) && is_set(z, y, x + 1);
      ASSERT_EQ(surface.at(z, y, x), is_set(z, y, x) && !inside);
    }
  }
}

// The values are those of medpy.metric.binary.hd95 of MedPy 0.5.2.
TEST(Hausdorff95, IsThatOfMedPy) {
  const Shape shape{8, 9, 70};
  const Mask truth = block(shape, {1, 1, 1}, {5, 6, 60});
  const Mask predicted = block(shape, {2, 1, 3}, {7, 8, 66});
  EXPECT_NEAR(*hausdorff_95(truth, predicted, {1, 1, 1}), 2.8284271247461903, 1e-6);
  EXPECT_NEAR(*hausdorff_95(truth, predicted, {2.5, 0.5, 0.75}), 5.024937810560445, 1e-6);
  EXPECT_EQ(hausdorff_95(truth, truth, {1, 1, 1}), 0);
  const Shape small{4, 4, 4};
  EXPECT_NEAR(*hausdorff_95(block(small, {}, {4, 4, 4}), block(small, {}, {1, 1, 1}), {1, 1, 1}),
              4.69041575982343, 1e-6)
      << "between two distances; a full volume has a surface at its border";
  const Shape five{5, 5, 5};
  EXPECT_NEAR(
      *hausdorff_95(block(five, {}, {1, 1, 1}), block(five, {4, 3, 0}, {5, 4, 1}), {2, 1, 1}),
      8.54400374531753, 1e-6);
}

TEST(Hausdorff95, IsNotThereWhereAMaskIsEmpty) {
  const Mask empty({3, 4, 5}), one = block({3, 4, 5}, {}, {1, 1, 1});
  EXPECT_EQ(hausdorff_95(empty, one, {1, 1, 1}), std::nullopt);
  EXPECT_EQ(hausdorff_95(one, empty, {1, 1, 1}), std::nullopt);
  EXPECT_EQ(hausdorff_95(empty, empty, {1, 1, 1}), std::nullopt);
  EXPECT_THROW(hausdorff_95(one, Mask({3, 4, 6}), {1, 1, 1}), Error);
}

}  // namespace
}  // namespace lockstep::volume
