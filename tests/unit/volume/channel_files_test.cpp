// Channels in files of their own.
#include "recipes/volume/files/channel_files.h"

#include <gmock/gmock.h>

#include "volume_test.h"

namespace lockstep::volume {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ChannelFiles : public VolumeTest {
 protected:
  template <class Voxel>
  std::filesystem::path put(const std::string& name, const std::vector<Voxel>& voxels,
                            VoxelType type, std::int64_t channels = 1) const {
    const auto writer = create_nifti(
        path(name),
        {.shape = {.depth = 3, .height = 4, .width = 5, .channels = channels}, .type = type});
    write_all(*writer, voxels, 3 * channels);
    return path(name);
  }
};

TEST_F(ChannelFiles, NamesHaveFourDigits) {
  const auto found = channel_id("case_1_0012");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->id, "case_1");
  EXPECT_EQ(found->channel, 12);
  EXPECT_EQ(channel_name("case_1", 12), "case_1_0012");
  for (const char* id : {"case", "case_1", "case_00a0", "case0000", "_0000"})
    EXPECT_FALSE(channel_id(id).has_value()) << id;
  EXPECT_EQ(id_of("a/b_0000.NII.GZ"), "b_0000");
}

TEST_F(ChannelFiles, AreReadAsChannelsOfOneVolume) {
  const auto first = made_voxels<std::uint8_t>(60);
  auto second = first;
  std::reverse(second.begin(), second.end());
  put("a_0000.nii.gz", first, VoxelType::u8);
  put("a_0001.nii.gz", second, VoxelType::u8);
  const auto files = channel_files(path("a_0000.nii.gz"), 2);
  EXPECT_THAT(files, ElementsAre(path("a_0000.nii.gz"), path("a_0001.nii.gz")));
  const auto reader = open_channels(files);
  EXPECT_EQ(describe(reader->header().shape), "3 x 4 x 5, 2 channels");
  EXPECT_EQ(reader->header().type, VoxelType::u8);
  auto both = first;
  both.insert(both.end(), second.begin(), second.end());
  EXPECT_EQ(voxels_of<std::uint8_t>(*reader), both);
}

TEST_F(ChannelFiles, OfDifferentTypesAreFloats) {
  const auto bytes = made_voxels<std::uint8_t>(60);
  const auto words = made_voxels<std::uint16_t>(60);
  put("a_0000.nii", bytes, VoxelType::u8);
  put("a_0001.nii", words, VoxelType::u16);
  const auto reader = open_channels(channel_files(path("a_0000.nii"), 2));
  EXPECT_EQ(reader->header().type, VoxelType::f32);
  std::vector<float> both(bytes.begin(), bytes.end());
  both.insert(both.end(), words.begin(), words.end());
  EXPECT_EQ(voxels_of<float>(*reader), both);
}

TEST_F(ChannelFiles, SayWhichIsMissingAndWhatDiffers) {
  const auto voxels = made_voxels<std::uint8_t>(60);
  put("a_0000.nii", voxels, VoxelType::u8);
  put("a_0001.nii", voxels, VoxelType::u8);
  EXPECT_THAT(error_of([&] { channel_files(path("a_0000.nii"), 3); }),
              AllOf(HasSubstr("the volume a has no channel 2"), HasSubstr("a_0002.nii")));
  const auto two = made_voxels<std::uint8_t>(120);
  put("b_0000.nii", voxels, VoxelType::u8);
  put("b_0001.nii", two, VoxelType::u8, 2);
  EXPECT_THAT(error_of([&] { open_channels(channel_files(path("b_0000.nii"), 2)); }),
              AllOf(HasSubstr("b_0001.nii"), HasSubstr("it has 2")));
  const auto writer = create_nifti(
      path("a_0001.nii"), {.shape = {.depth = 3, .height = 4, .width = 4}, .type = VoxelType::u8});
  write_all(*writer, made_voxels<std::uint8_t>(48), 3);
  EXPECT_THAT(error_of([&] { open_channels(channel_files(path("a_0000.nii"), 2)); }),
              AllOf(HasSubstr("3 x 4 x 5"), HasSubstr("3 x 4 x 4"), HasSubstr("a_0001.nii")));
}

TEST_F(ChannelFiles, SayTheirSpacingsInTheUnitThatSuits) {
  EXPECT_EQ(describe_spacing({2, 0.5, 0.1}), "2 x 0.5 x 0.1 mm");
  EXPECT_EQ(describe_spacing({0.04, 0.002, 0.0025}), "40 x 2 x 2.5 \u00B5m");
  for (const auto& [name, spacing] :
       {std::pair("a_0000.nii", 0.02), std::pair("a_0001.nii", 0.03)}) {
    const auto writer = create_nifti(path(name), {.shape = {.depth = 3, .height = 4, .width = 5},
                                                  .type = VoxelType::u8,
                                                  .spacing_mm = {{spacing, spacing, spacing}}});
    write_all(*writer, made_voxels<std::uint8_t>(60), 3);
  }
  EXPECT_THAT(error_of([&] { open_channels(channel_files(path("a_0000.nii"), 2)); }),
              AllOf(HasSubstr("a spacing of 20 x 20 x 20 \u00B5m"),
                    HasSubstr("a spacing of 30 x 30 x 30 \u00B5m")));
}

}  // namespace
}  // namespace lockstep::volume
