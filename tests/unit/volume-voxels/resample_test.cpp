// Volumes at other extents.
#include "voxels_test.h"

namespace lockstep::volume {
namespace {

TEST(Resample, TakesExtentsFromTheSpacing) {
  const VolumeShape shape{.depth = 10, .height = 20, .width = 31, .channels = 2};
  EXPECT_EQ(resampled_shape(shape, {3, 1, 1}, {1, 1, 2}),
            (VolumeShape{.depth = 30, .height = 20, .width = 16, .channels = 2}));
  EXPECT_EQ(resampled_shape(shape, {1, 1, 1}, {100, 1, 1}).depth, 1);
}

TEST(Resample, DoublesARampBetweenItsBorders) {
  const VolumeShape line{.depth = 1, .height = 1, .width = 3}, twice{1, 1, 6, 1};
  const auto real = resample(voxels_from<float>(line, {0, 4, 8}), twice);
  EXPECT_EQ(values_of<float>(real), (std::vector<float>{0, 1, 3, 5, 7, 8}));
  const auto bytes = resample(voxels_from<std::uint8_t>(line, {0, 2, 3}), twice);
  EXPECT_EQ(values_of<std::uint8_t>(bytes), (std::vector<std::uint8_t>{0, 1, 2, 2, 3, 3}));
}

TEST(Resample, WorksAlongEachAxisAndForEachChannel) {
  const VolumeShape shape{.depth = 4, .height = 6, .width = 8, .channels = 2};
  const VolumeShape wanted{.depth = 7, .height = 3, .width = 12, .channels = 2};
  // A plane in space: trilinear interpolation is exact on it, away from the borders.
  const auto value = [](double c, double z, double y, double x) {
    return static_cast<float>(100 * c + 2 * z + 5 * y - 3 * x);
  };
  std::vector<float> values;
  for (int c = 0; c < 2; ++c)
    for (int z = 0; z < 4; ++z)
      for (int y = 0; y < 6; ++y)
        for (int x = 0; x < 8; ++x) values.push_back(value(c, z, y, x));
  const auto result = values_of<float>(resample(voxels_from(shape, values), wanted));
  const auto at = [&](int c, int z, int y, int x) {
    return result[static_cast<std::size_t>(((c * 7 + z) * 3 + y) * 12 + x)];
  };
  for (int c = 0; c < 2; ++c)
    for (int z = 1; z < 6; ++z)
      for (int x = 1; x < 11; ++x)
        EXPECT_NEAR(at(c, z, 1, x),
                    value(c, (z + 0.5) * 4 / 7 - 0.5, 1.5 * 2 - 0.5, (x + 0.5) * 8 / 12 - 0.5),
                    1e-4);
}

TEST(Resample, ToTheSameExtentsChangesNothing) {
  const VolumeShape shape{.depth = 2, .height = 3, .width = 4};
  const auto voxels = voxels_from(shape, counted<std::uint16_t>(24));
  EXPECT_EQ(resample(voxels, shape).values, voxels.values);
}

TEST(Resample, TakesTheNearestLabelAndMakesNoOther) {
  const VolumeShape line{.depth = 1, .height = 1, .width = 3};
  const std::vector<std::uint8_t> labels{0, 2, 1};
  EXPECT_EQ(resample_labels(labels, line, {1, 1, 6, 1}),
            (std::vector<std::uint8_t>{0, 0, 2, 2, 1, 1}));
  EXPECT_EQ(resample_labels(labels, line, {1, 1, 1, 1}), (std::vector<std::uint8_t>{2}));
  EXPECT_EQ(resample_labels(labels, line, {2, 1, 3, 1}),
            (std::vector<std::uint8_t>{0, 2, 1, 0, 2, 1}));
}

}  // namespace
}  // namespace lockstep::volume
