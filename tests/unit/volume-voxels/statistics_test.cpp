// Statistics of voxels, and normalisation by them.
#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "voxels_test.h"

namespace lockstep::volume {
namespace {

using ::testing::HasSubstr;

constexpr VolumeShape cube{.depth = 10, .height = 10, .width = 10};

template <class Voxel>
ChannelStatistics of(const std::vector<Voxel>& values,
                     const std::vector<std::uint8_t>& labels = {}) {
  return statistics_of(voxels_from(cube, values), labels, 2).at(0);
}

// 0 … 999 has mean 499.5 and variance (1000² - 1) / 12.
const double deviation = std::sqrt((1e6 - 1) / 12);

TEST(Statistics, OfShortsAreExact) {
  const ChannelStatistics result = of(counted<std::uint16_t>(1000));
  EXPECT_EQ(result.minimum, 0);
  EXPECT_EQ(result.maximum, 999);
  EXPECT_DOUBLE_EQ(result.mean, 499.5);
  EXPECT_NEAR(result.deviation, deviation, 1e-9);
  EXPECT_EQ(result.low, 4);
  EXPECT_EQ(result.high, 994);
}

TEST(Statistics, OfRealValuesAreWithinTheirPromise) {
  auto values = counted<float>(1000);
  for (float& value : values) value = value / 10 - 50;
  const ChannelStatistics result = of(values);
  EXPECT_EQ(result.minimum, -50);
  EXPECT_NEAR(result.maximum, 49.9, 1e-5);
  EXPECT_NEAR(result.mean, -0.05, 1e-5);
  EXPECT_NEAR(result.deviation, deviation / 10, 1e-5);
  EXPECT_NEAR(result.low, -50 + 0.4, 99.9 / 4096);
  EXPECT_NEAR(result.high, -50 + 99.4, 99.9 / 4096);
}

TEST(Statistics, LeaveOutWhatIsIgnoredUnlessAllIs) {
  std::vector<std::uint8_t> labels(1000, 2);
  for (std::size_t i = 100; i < 200; ++i) labels[i] = i % 2;
  const ChannelStatistics shorts = of(counted<std::uint16_t>(1000), labels);
  EXPECT_EQ(shorts.minimum, 100);
  EXPECT_EQ(shorts.maximum, 199);
  EXPECT_EQ(of(counted<float>(1000), labels).maximum, 199);
  EXPECT_EQ(of(counted<float>(1000), std::vector<std::uint8_t>(1000, 2)).maximum, 999);
}

TEST(Statistics, OfAConstantVolumeAreThatConstant) {
  for (const ChannelStatistics& result :
       {of(std::vector<float>(1000, 7)), of(std::vector<std::uint8_t>(1000, 7))}) {
    EXPECT_EQ(result.minimum, 7);
    EXPECT_EQ(result.mean, 7);
    EXPECT_EQ(result.deviation, 0);
    EXPECT_EQ(result.low, 7);
    EXPECT_EQ(result.high, 7);
  }
}

TEST(Statistics, AreOfEachChannel) {
  const VolumeShape two{.depth = 1, .height = 2, .width = 2, .channels = 2};
  const auto result = statistics_of(voxels_from<std::uint8_t>(two, {1, 1, 1, 1, 9, 9, 9, 9}),
                                    std::vector<std::uint8_t>(4), 2);
  ASSERT_EQ(result.size(), 2U);
  EXPECT_EQ(result[0].mean, 1);
  EXPECT_EQ(result[1].mean, 9);
}

float apply(const ChannelNormal& normal, float value) {
  return (std::min(std::max(value, normal.low), normal.high) - normal.shift) * normal.scale;
}

TEST(Normalization, DividesByWhatTheTypeHoldsOrWhatIsSaid) {
  const auto normal = [](double divide, VoxelType type) {
    return normal_of({.divide = divide}, type, {{}}).at(0);
  };
  EXPECT_FLOAT_EQ(apply(normal(0, VoxelType::u8), 255), 1);
  EXPECT_FLOAT_EQ(apply(normal(0, VoxelType::u16), 65'535), 1);
  EXPECT_FLOAT_EQ(apply(normal(0, VoxelType::f32), -3.5F), -3.5F);
  EXPECT_FLOAT_EQ(apply(normal(1000, VoxelType::u16), 500), 0.5F);
}

TEST(Normalization, GivesMeanZeroAndDeviationOne) {
  const std::vector<ChannelStatistics> volume{{.mean = 10, .deviation = 4}, {.deviation = 0}};
  const auto normals = normal_of({.kind = Normalize::zscore}, VoxelType::u8, volume);
  EXPECT_FLOAT_EQ(apply(normals[0], 18), 2);
  EXPECT_FLOAT_EQ(apply(normals[0], 1e6F), (1e6F - 10) / 4);
  EXPECT_FLOAT_EQ(apply(normals[1], 3), 3) << "a deviation of 0 counts as 1";
}

TEST(Normalization, MapsQuantilesToZeroAndOneAndClampsBeyond) {
  const auto normal =
      normal_of({.kind = Normalize::percentile}, VoxelType::u8, {{.low = 20, .high = 120}}).at(0);
  EXPECT_FLOAT_EQ(apply(normal, 20), 0);
  EXPECT_FLOAT_EQ(apply(normal, 120), 1);
  EXPECT_FLOAT_EQ(apply(normal, 255), 1);
  EXPECT_FLOAT_EQ(apply(normal, 0), 0);
}

TEST(Normalization, OfCtIsTheSameForAllVolumes) {
  const Normalization how{.kind = Normalize::ct,
                          .set = {{.mean = 100, .deviation = 50, .low = -100, .high = 300}}};
  const auto normal = normal_of(how, VoxelType::f32, {{.mean = 7}}).at(0);
  EXPECT_FLOAT_EQ(apply(normal, 150), 1);
  EXPECT_FLOAT_EQ(apply(normal, 3000), 4);
  EXPECT_FLOAT_EQ(apply(normal, -3000), -4);
  EXPECT_THAT(error_of([&] {
                normal_of(how, VoxelType::f32, {{}, {}});
              }),
              HasSubstr("knows 1 channels of the training set, but the volume has 2"));
}

TEST(Normalization, ComesBackFromJson) {
  const Normalization how{
      .kind = Normalize::percentile, .divide = 0.1, .set = {{.mean = 1.0 / 3, .low = -7}}};
  const Normalization back = normalization_from_json(nlohmann::json::parse(to_json(how).dump()));
  EXPECT_EQ(back.kind, how.kind);
  EXPECT_EQ(back.divide, how.divide);
  EXPECT_EQ(back.set, how.set);
  nlohmann::json other = to_json(how);
  other["kind"] = "median";
  EXPECT_THAT(error_of([&] { normalization_from_json(other); }), HasSubstr("median"));
}

}  // namespace
}  // namespace lockstep::volume
