// Volumes in memory that tests make.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "fakes/error_of.h"
#include "recipes/volume/files/volume_writer.h"
#include "recipes/volume/voxels/voxels.h"

namespace lockstep::volume {

template <class Voxel>
constexpr VoxelType type_of();
template <>
constexpr VoxelType type_of<std::uint8_t>() {
  return VoxelType::u8;
}
template <>
constexpr VoxelType type_of<std::uint16_t>() {
  return VoxelType::u16;
}
template <>
constexpr VoxelType type_of<std::int16_t>() {
  return VoxelType::i16;
}
template <>
constexpr VoxelType type_of<float>() {
  return VoxelType::f32;
}

template <class Voxel>
Voxels voxels_from(const VolumeShape& shape, const std::vector<Voxel>& values) {
  Voxels voxels{.shape = shape, .type = type_of<Voxel>()};
  voxels.values.resize(values.size() * sizeof(Voxel));
  std::memcpy(voxels.values.data(), values.data(), voxels.values.size());
  return voxels;
}

template <class Voxel>
std::vector<Voxel> values_of(const Voxels& voxels) {
  std::vector<Voxel> values(voxels.values.size() / sizeof(Voxel));
  std::memcpy(values.data(), voxels.values.data(), voxels.values.size());
  return values;
}

// 0, 1, 2 … as voxels of a volume.
template <class Voxel>
std::vector<Voxel> counted(std::int64_t count) {
  std::vector<Voxel> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<Voxel>(i));
  return values;
}

class VoxelsTest : public ::testing::Test {
 protected:
  std::filesystem::path path(const std::string& name) const { return folder_.path() / name; }

  template <class Voxel>
  std::filesystem::path write_nifti(const std::string& name, const VolumeHeader& header,
                                    const std::vector<Voxel>& values) const {
    VolumeHeader whole = header;
    whole.type = type_of<Voxel>();
    const auto writer = create_nifti(path(name), whole);
    const auto plane = static_cast<std::size_t>(header.shape.height * header.shape.width);
    for (std::size_t at = 0; at < values.size(); at += plane)
      writer->write_plane(std::as_bytes(std::span(values).subspan(at, plane)));
    writer->finish();
    return path(name);
  }

  template <class Voxel>
  std::filesystem::path write_tiff(const std::string& name, const VolumeShape& shape,
                                   const std::vector<Voxel>& values) const {
    const auto writer = create_tiff(path(name), {.shape = shape, .type = type_of<Voxel>()});
    const auto plane = static_cast<std::size_t>(shape.height * shape.width);
    for (std::size_t at = 0; at < values.size(); at += plane)
      writer->write_plane(std::as_bytes(std::span(values).subspan(at, plane)));
    writer->finish();
    return path(name);
  }

  TemporaryDirectory folder_;
};

}  // namespace lockstep::volume
