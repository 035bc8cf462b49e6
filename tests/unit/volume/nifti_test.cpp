// NIfTI files in every version, byte order and type, and damaged ones.
#include <algorithm>
#include <cmath>

#include "recipes/volume/files/nifti/nifti_header.h"
#include "volume_test.h"

namespace lockstep::volume {
namespace {

constexpr VolumeShape shape{4, 3, 5, 1};
constexpr std::int64_t voxel_count = 4 * 3 * 5;

NiftiSpace made_space(int version) {
  NiftiSpace space;
  space.version = version;
  space.units = 2;
  space.qform_code = 1;
  space.sform_code = 2;
  space.pixdim = {-1, 0.5, 0.75, 2, 1, 1, 1, 1};
  space.quaternion = {0.5, 0.5, 0.5};
  space.offset = {-10, 20, 30};
  space.srow = {{{0.5, 0, 0, -10}, {0, 0.75, 0, 20}, {0, 0, 2, 30}}};
  return space;
}

// The same file as a machine of the other byte order would write it.
void swap(std::string& bytes, std::size_t at, std::size_t size, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(at + i * size),
                 bytes.begin() + static_cast<std::ptrdiff_t>(at + (i + 1) * size));
}
std::string other_order(std::string bytes, int version, std::size_t voxel_bytes) {
  swap(bytes, 0, 4, 1);
  if (version == 1) {
    swap(bytes, 40, 2, 8);    // dim
    swap(bytes, 70, 2, 2);    // datatype, bitpix
    swap(bytes, 76, 4, 11);   // pixdim, vox_offset, scl_slope, scl_inter
    swap(bytes, 252, 2, 2);   // codes
    swap(bytes, 256, 4, 18);  // quaternion, offset, srow
    swap(bytes, 352, voxel_bytes, (bytes.size() - 352) / voxel_bytes);
  } else {
    swap(bytes, 12, 2, 2);
    swap(bytes, 16, 8, 8);
    swap(bytes, 104, 8, 11);
    swap(bytes, 344, 4, 2);
    swap(bytes, 352, 8, 18);
    swap(bytes, 500, 4, 1);
    swap(bytes, 544, voxel_bytes, (bytes.size() - 544) / voxel_bytes);
  }
  return bytes;
}

class NiftiTest : public VolumeTest {
 protected:
  template <class Voxel>
  void expect_round_trip(VoxelType type, int version, const char* name) {
    const VolumeHeader header{
        .shape = shape, .type = type, .slope = 2, .intercept = -3, .space = made_space(version)};
    const auto voxels = made_voxels<Voxel>(voxel_count);
    write_all(*create_nifti(path(name), header), voxels, 4);
    expect_file(path(name), header, voxels);
    if (std::string(name).ends_with("gz")) return;
    expect_file(write("other.nii", other_order(read_file(path(name)), version, sizeof(Voxel))),
                header, voxels);
  }
  template <class Voxel>
  void expect_file(const std::filesystem::path& file, const VolumeHeader& header,
                   const std::vector<Voxel>& voxels) {
    SCOPED_TRACE(cat(file, " ", name_of(header.type)));
    const auto reader = open_volume(file);
    EXPECT_EQ(reader->header().shape, header.shape);
    EXPECT_EQ(reader->header().type, header.type);
    EXPECT_EQ(reader->header().space, header.space);
    EXPECT_EQ(reader->header().spacing_mm, (std::array<double, 3>{2, 0.75, 0.5}));
    EXPECT_EQ(voxels_of<Voxel>(*reader), voxels);
    std::vector<float> values(15);
    reader->read_values(1, 0, values);  // backwards
    EXPECT_EQ(values[3], 2 * static_cast<float>(voxels[18]) - 3);
  }
  std::string made_file(const VolumeHeader& header = {.shape = shape}) {
    write_all(*create_nifti(path("made.nii"), header),
              made_voxels<std::uint8_t>(voxel_count * header.shape.channels),
              4 * header.shape.channels);
    return read_file(path("made.nii"));
  }
  // With a 16-bit field of version 1 changed.
  std::string error_with(std::size_t at, std::int16_t value) {
    std::string bytes = made_file();
    std::memcpy(&bytes[at], &value, 2);
    return open_error(write("changed.nii", bytes));
  }
};

TEST_F(NiftiTest, EveryTypeVersionAndByteOrderComesBack) {
  for (const int version : {1, 2})
    for (const char* name : {"v.nii", "v.nii.gz"}) {
      expect_round_trip<std::uint8_t>(VoxelType::u8, version, name);
      expect_round_trip<std::int8_t>(VoxelType::i8, version, name);
      expect_round_trip<std::uint16_t>(VoxelType::u16, version, name);
      expect_round_trip<std::int16_t>(VoxelType::i16, version, name);
      expect_round_trip<std::uint32_t>(VoxelType::u32, version, name);
      expect_round_trip<std::int32_t>(VoxelType::i32, version, name);
      expect_round_trip<float>(VoxelType::f32, version, name);
      expect_round_trip<double>(VoxelType::f64, version, name);
    }
}

TEST_F(NiftiTest, WholeNumbersOf64BitsComeBack) {
  expect_round_trip<std::int64_t>(VoxelType::i64, 1, "v.nii");
  expect_round_trip<std::uint64_t>(VoxelType::u64, 2, "v.nii");
}

TEST_F(NiftiTest, ChannelsAreTheFourthDimension) {
  made_file({.shape = {4, 3, 5, 2}});
  const auto reader = open_volume(path("made.nii"));
  EXPECT_EQ(reader->header().shape, (VolumeShape{4, 3, 5, 2}));
  EXPECT_EQ(voxels_of<std::uint8_t>(*reader), made_voxels<std::uint8_t>(2 * voxel_count));
}

TEST_F(NiftiTest, TheAffineIsTheSformElseTheQformElseTheSpacing) {
  NiftiSpace space = made_space(1);
  const auto affine = [&] { return affine_of({.shape = shape, .space = space}); };
  EXPECT_EQ(affine()[1], (std::array<double, 4>{0, 0.75, 0, 20}));
  space.sform_code = 0;
  // The quaternion (1, 1, 1, 1) / 2 turns x to y, y to z and z to x; the third axis is mirrored.
  EXPECT_EQ(affine()[0], (std::array<double, 4>{0, 0, -2, -10}));
  EXPECT_EQ(affine()[1], (std::array<double, 4>{0.5, 0, 0, 20}));
  EXPECT_EQ(affine()[2], (std::array<double, 4>{0, 0.75, 0, 30}));
  space.pixdim[2] = -0.75;
  EXPECT_EQ(affine()[2], (std::array<double, 4>{0, 0.75, 0, 30})) << "a size is a length";
  space.qform_code = 0;
  // As nibabel has it, of 5 x 3 x 4 voxels.
  EXPECT_EQ(affine()[0], (std::array<double, 4>{-0.5, 0, 0, 1}));
  EXPECT_EQ(affine()[1], (std::array<double, 4>{0, 0.75, 0, -0.75}));
  EXPECT_EQ(affine()[2], (std::array<double, 4>{0, 0, 2, -3}));
}

TEST_F(NiftiTest, SpacingFollowsTheUnit) {
  NiftiSpace space = made_space(1);
  space.units = 3;  // micrometres
  made_file({.shape = shape, .space = space});
  const auto spacing = open_volume(path("made.nii"))->header().spacing_mm;
  ASSERT_TRUE(spacing);
  EXPECT_NEAR((*spacing)[0], 0.002, 1e-9);
  space.pixdim[2] *= -1;
  made_file({.shape = shape, .space = space});
  EXPECT_EQ(open_volume(path("made.nii"))->header().spacing_mm, spacing);
  space.pixdim[2] = 0;
  made_file({.shape = shape, .space = space});
  EXPECT_EQ(open_volume(path("made.nii"))->header().spacing_mm, std::nullopt);
  made_file({.shape = shape, .spacing_mm = {{3, 2, 1}}});
  EXPECT_EQ(open_volume(path("made.nii"))->header().spacing_mm, (std::array<double, 3>{3, 2, 1}));
}

TEST_F(NiftiTest, ASlopeOfZeroMeansNone) {
  made_file({.shape = shape, .slope = 0, .intercept = 7});
  const auto reader = open_volume(path("made.nii"));
  EXPECT_EQ(reader->header().slope, 1);
  EXPECT_EQ(reader->header().intercept, 0);
}

TEST_F(NiftiTest, ASlopeWithoutANumberBesideItIsRefused) {
  made_file({.shape = shape, .slope = 2, .intercept = std::nan("")});
  EXPECT_NE(open_error(path("made.nii")).find("its scl_slope is 2, but its scl_inter is nan"),
            std::string::npos);
}

TEST_F(NiftiTest, WhatIsNotReadIsNamed) {
  EXPECT_NE(error_with(70, 128).find("its voxels are colours (RGB)"), std::string::npos);
  EXPECT_NE(error_with(70, 32).find("its voxels are complex numbers"), std::string::npos);
  EXPECT_NE(error_with(72, 16).find("its voxels are u8, but of 16 bits"), std::string::npos);
  EXPECT_NE(error_with(40, 9).find("9 dimensions"), std::string::npos);
  EXPECT_NE(error_with(44, -3).find("dimension 2 is -3"), std::string::npos);
  EXPECT_NE(error_with(44, 4).find("it is truncated: it has 412 bytes"), std::string::npos);
  EXPECT_NE(error_with(40, 2).find("one page"), std::string::npos);
  EXPECT_NE(error_with(345, 'i').find("not a NIfTI file"), std::string::npos);
  EXPECT_NE(open_error(write("v.nii", "none of it")).find("neither a TIFF nor a NIfTI file"),
            std::string::npos);
  std::string pair = made_file();
  pair[345] = 'i';
  EXPECT_NE(open_error(write("v.hdr", pair)).find("in another file"), std::string::npos);
}

TEST_F(NiftiTest, HugeExtentsAreRefusedBeforeAnythingIsAllocated) {
  std::string bytes = made_file({.shape = shape, .space = made_space(2)});
  for (std::size_t axis = 1; axis <= 3; ++axis) {
    const std::int64_t extent = std::int64_t{1} << 62;
    std::memcpy(&bytes[16 + 8 * axis], &extent, 8);
  }
  EXPECT_NE(open_error(write("huge.nii", bytes)).find("more than the"), std::string::npos);
}

TEST_F(NiftiTest, FilesThatAreCutOffOrDamagedAreRefused) {
  for (const char* name : {"v.nii", "v.nii.gz"}) {
    write_all(*create_nifti(path(name), {.shape = shape}), made_voxels<std::uint8_t>(voxel_count),
              4);
    const std::string bytes = read_file(path(name));
    for (std::size_t length = 0; length < bytes.size(); ++length) {
      const auto file = write("cut.nii", bytes.substr(0, length));
      const std::string error = error_of([&] { voxels_of<std::uint8_t>(*open_volume(file)); });
      ASSERT_NE(error.find(file.string()), error.npos) << name << " " << length << " " << error;
    }
  }
  std::string bytes = read_file(path("v.nii.gz"));
  bytes[bytes.size() - 6] ^= 1;  // the checksum
  const auto file = write("bad.nii.gz", bytes);
  EXPECT_NE(error_of([&] { voxels_of<std::uint8_t>(*open_volume(file)); }).find("damaged"),
            std::string::npos);
}

TEST_F(NiftiTest, MembersOfGzipOneBehindTheOtherAreOneFile) {
  // A second member with voxels of its own: the first ends after two planes.
  write_all(*create_nifti(path("v.nii.gz"), {.shape = shape}),
            made_voxels<std::uint8_t>(voxel_count), 4);
  const std::string bytes = read_file(path("v.nii.gz"));
  const auto file = write("twice.nii.gz", bytes + bytes);
  EXPECT_EQ(voxels_of<std::uint8_t>(*open_volume(file)), made_voxels<std::uint8_t>(voxel_count));
}

}  // namespace
}  // namespace lockstep::volume
