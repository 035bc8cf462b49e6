// Voxels and labels from files.
#include <gmock/gmock.h>

#include <limits>

#include "voxels_test.h"

namespace lockstep::volume {
namespace {

using ::testing::HasSubstr;

constexpr VolumeShape small{.depth = 2, .height = 3, .width = 4};

using ReadVoxels = VoxelsTest;
using ReadLabels = VoxelsTest;

std::string label_error(const std::filesystem::path& path, std::int64_t classes,
                        std::optional<std::int64_t> ignore) {
  return error_of([&] { read_labels(*open_volume(path), classes, ignore); });
}

TEST_F(ReadVoxels, KeepsBytesAndShortsAsTheyAre) {
  const auto bytes =
      read_voxels(*open_volume(write_tiff("a.tif", small, counted<std::uint8_t>(24))));
  EXPECT_EQ(bytes.type, VoxelType::u8);
  EXPECT_EQ(bytes.shape, small);
  EXPECT_EQ(values_of<std::uint8_t>(bytes), counted<std::uint8_t>(24));
  const auto shorts =
      read_voxels(*open_volume(write_tiff("b.tif", small, counted<std::uint16_t>(24))));
  EXPECT_EQ(shorts.type, VoxelType::u16);
  EXPECT_EQ(values_of<std::uint16_t>(shorts), counted<std::uint16_t>(24));
}

TEST_F(ReadVoxels, MakesOtherTypesAndScaledOnesReal) {
  const auto signed_ones =
      read_voxels(*open_volume(write_tiff("a.tif", small, counted<std::int16_t>(24))));
  EXPECT_EQ(signed_ones.type, VoxelType::f32);
  EXPECT_EQ(values_of<float>(signed_ones), counted<float>(24));
  const auto scaled = read_voxels(*open_volume(write_nifti(
      "b.nii", {.shape = small, .slope = 2, .intercept = -1}, counted<std::uint8_t>(24))));
  EXPECT_EQ(scaled.type, VoxelType::f32);
  EXPECT_EQ(values_of<float>(scaled)[5], 9);
}

TEST_F(ReadVoxels, KeepsChannelsApartAndTheFilesHeader) {
  VolumeShape shape = small;
  shape.channels = 2;
  const auto voxels = read_voxels(*open_volume(write_nifti(
      "a.nii.gz", {.shape = shape, .spacing_mm = {{3, 2, 1}}}, counted<std::uint8_t>(48))));
  EXPECT_EQ(voxels.shape, shape);
  EXPECT_EQ(values_of<std::uint8_t>(voxels), counted<std::uint8_t>(48));
  ASSERT_TRUE(voxels.source.spacing_mm);
  EXPECT_EQ((*voxels.source.spacing_mm)[0], 3);
}

TEST_F(ReadVoxels, RefusesWhatIsNoNumberByFileAndPlace) {
  auto values = counted<float>(24);
  values[12 + 4 + 3] = std::numeric_limits<float>::quiet_NaN();
  const auto path = write_tiff("a.tif", small, values);
  const std::string nan = error_of([&] { read_voxels(*open_volume(path)); });
  EXPECT_THAT(nan, HasSubstr("a.tif"));
  EXPECT_THAT(nan, HasSubstr("z 1, y 1, x 3 is NaN"));
  values[19] = std::numeric_limits<float>::infinity();
  write_tiff("a.tif", small, values);
  EXPECT_THAT(error_of([&] { read_voxels(*open_volume(path)); }), HasSubstr("infinite"));
}

TEST_F(ReadLabels, KeepsTheIgnoredValue) {
  std::vector<std::uint8_t> labels(24);
  labels[3] = 1;
  labels[4] = 2;
  const auto path = write_tiff("a.tif", small, labels);
  EXPECT_EQ(read_labels(*open_volume(path), 1, 2), labels);
  EXPECT_THAT(label_error(path, 1, std::nullopt),
              HasSubstr("z 0, y 1, x 0 is 2, but labels are 0 and 1"));
  EXPECT_EQ(read_labels(*open_volume(path), 3, std::nullopt), labels);
}

TEST_F(ReadLabels, TakesWholeNumbersOfAnyType) {
  std::vector<float> labels(24);
  labels[23] = 3;
  const auto path = write_tiff("a.tif", small, labels);
  EXPECT_EQ(read_labels(*open_volume(path), 4, std::nullopt)[23], 3);
  EXPECT_THAT(label_error(path, 3, 2), HasSubstr("is 3, but labels are 0 to 2"));
  labels[23] = 0.5F;
  write_tiff("a.tif", small, labels);
  EXPECT_THAT(label_error(path, 4, std::nullopt), HasSubstr("z 1, y 2, x 3 is 0.5"));
  labels[23] = std::numeric_limits<float>::quiet_NaN();
  write_tiff("a.tif", small, labels);
  EXPECT_THAT(label_error(path, 4, std::nullopt), HasSubstr("is nan"));
  labels[23] = -1;
  write_tiff("a.tif", small, labels);
  EXPECT_THAT(label_error(path, 4, 255), HasSubstr("is -1"));
}

TEST_F(ReadLabels, TakesTheNumberThatAScaledOneIsNextTo) {
  // nibabel's scaling of 0, 1 and 2 to all of i16.
  const double slope = static_cast<float>(2 / 65535.0), intercept = 1;
  std::vector<std::int16_t> stored(24, -32767);
  stored[1] = 0;
  stored[2] = 32767;
  const VolumeHeader header{.shape = small, .slope = slope, .intercept = intercept + slope / 2};
  const auto path = write_nifti("a.nii", header, stored);
  const auto labels = read_labels(*open_volume(path), 3, std::nullopt);
  EXPECT_EQ(labels[0], 0);
  EXPECT_EQ(labels[1], 1);
  EXPECT_EQ(labels[2], 2);
  stored[5] = 1;
  write_nifti("a.nii", header, stored);
  const Error error = thrown_by([&] { read_labels(*open_volume(path), 3, std::nullopt); });
  EXPECT_THAT(error.what(), HasSubstr("z 0, y 1, x 1 is 1.000046 (scl_slope is 3.051804e-05"));
  EXPECT_THAT(error.hint(), HasSubstr("round the labels"));
}

TEST_F(ReadLabels, RefusesSeveralChannels) {
  VolumeShape shape = small;
  shape.channels = 2;
  const auto path = write_nifti("a.nii", {.shape = shape}, std::vector<std::uint8_t>(48));
  EXPECT_THAT(label_error(path, 1, 2), HasSubstr("2 channels"));
}

}  // namespace
}  // namespace lockstep::volume
