// What the tests of volume files share: a folder and made voxels.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "fakes/error_of.h"
#include "recipes/volume/files/volume_reader.h"
#include "recipes/volume/files/volume_writer.h"

namespace lockstep::volume {

// Different everywhere, so that no two planes, rows or columns are alike.
template <class Voxel>
std::vector<Voxel> made_voxels(std::int64_t count) {
  std::vector<Voxel> voxels;
  for (std::int64_t i = 0; i < count; ++i)
    voxels.push_back(static_cast<Voxel>((i * 37 + i / 11) % 120));
  return voxels;
}

template <class Voxel>
std::span<const std::byte> plane_of(const std::vector<Voxel>& voxels, std::int64_t planes,
                                    std::int64_t plane) {
  const std::size_t size = voxels.size() / static_cast<std::size_t>(planes);
  return std::as_bytes(std::span(voxels).subspan(static_cast<std::size_t>(plane) * size, size));
}

// All planes of a reader, channel by channel.
template <class Voxel>
std::vector<Voxel> voxels_of(VolumeReader& reader) {
  const VolumeShape& shape = reader.header().shape;
  std::vector<std::byte> plane(plane_bytes(reader.header()));
  std::vector<Voxel> voxels;
  for (std::int64_t channel = 0; channel < shape.channels; ++channel)
    for (std::int64_t z = 0; z < shape.depth; ++z) {
      reader.read_plane(z, channel, plane);
      const std::size_t before = voxels.size();
      voxels.resize(before + plane.size() / sizeof(Voxel));
      std::memcpy(voxels.data() + before, plane.data(), plane.size());
    }
  return voxels;
}

template <class Voxel>
void write_all(VolumeWriter& writer, const std::vector<Voxel>& voxels, std::int64_t planes) {
  for (std::int64_t plane = 0; plane < planes; ++plane)
    writer.write_plane(plane_of(voxels, planes, plane));
  writer.finish();
}

class VolumeTest : public ::testing::Test {
 protected:
  std::filesystem::path path(const std::string& name) const { return folder_.path() / name; }
  std::filesystem::path write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }
  std::string open_error(const std::filesystem::path& file, const ReadVolume& how = {}) const {
    return error_if_any([&] { open_volume(file, how); });
  }

  TemporaryDirectory folder_;
};

}  // namespace lockstep::volume
