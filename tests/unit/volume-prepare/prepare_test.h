// Small data sets in files, and what the tests of preparation ask of them.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "fakes/error_of.h"
#include "recipes/volume/files/volume_writer.h"
#include "recipes/volume/options/volume_options.h"
#include "recipes/volume/prepare/prepare.h"
#include "recipes/volume/voxels/cached_volume.h"
#include "recipes/volume/voxels/prepared_volumes.h"

namespace lockstep::volume {

class PrepareTest : public ::testing::Test {
 protected:
  PrepareTest() {
    options.data.path = data().string();
    options.data.patch = {"4"};
    std::filesystem::create_directories(cache());
  }

  std::filesystem::path path(const std::string& name) const { return folder_.path() / name; }
  std::filesystem::path data() const { return path("data"); }
  std::filesystem::path cache() const { return path("cache"); }

  // A file made by `create` of planes that are all `value` but for those of `values`.
  template <class Voxel>
  void write(const std::filesystem::path& file, const VolumeShape& shape,
             const std::vector<Voxel>& values, VolumeHeader header = {}) const {
    std::filesystem::create_directories(file.parent_path());
    header.shape = shape;
    header.type = std::is_same_v<Voxel, float>           ? VoxelType::f32
                  : std::is_same_v<Voxel, std::uint16_t> ? VoxelType::u16
                                                         : VoxelType::u8;
    const auto writer = file.extension() == ".tif" || file.extension() == ".tiff"
                            ? create_tiff(file, header)
                            : create_nifti(file, header);
    const auto plane = static_cast<std::size_t>(shape.height * shape.width);
    for (std::size_t at = 0; at < values.size(); at += plane)
      writer->write_plane(std::as_bytes(std::span(values).subspan(at, plane)));
    writer->finish();
  }

  static std::size_t voxels(const VolumeShape& shape) {
    return static_cast<std::size_t>(shape.depth * shape.height * shape.width * shape.channels);
  }

  // Voxels that differ by `seed`, and labels with some foreground and some to ignore.
  static std::vector<std::uint8_t> image_of(const VolumeShape& shape, int seed) {
    std::vector<std::uint8_t> values(voxels(shape));
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<std::uint8_t>((i * 37 + static_cast<std::size_t>(seed) * 11) % 251);
    return values;
  }
  static std::vector<std::uint8_t> labels_of(VolumeShape shape) {
    shape.channels = 1;
    std::vector<std::uint8_t> values(voxels(shape));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = i % 5 == 0 ? 1 : i % 7 == 0 ? 2 : 0;
    return values;
  }

  void write_image(const std::string& id, const VolumeShape& shape = usual, int seed = -1) const {
    write(data() / "train_images" / (id + ".tif"), shape,
          image_of(shape, seed < 0 ? id.back() : seed));
  }
  void write_label(const std::string& id, const VolumeShape& shape = usual) const {
    write(data() / "train_labels" / (id + ".tif"), shape, labels_of(shape));
  }
  void write_pair(const std::string& id, const VolumeShape& shape = usual) const {
    write_image(id, shape);
    write_label(id, shape);
  }
  void write_pairs(const std::vector<std::string>& ids) const {
    for (const std::string& id : ids) write_pair(id);
  }
  void write_text(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((data() / name).parent_path());
    write_file_atomic(data() / name, text);
  }
  // So long ago that nobody takes it for a file that is still being written.
  void age() const {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(data()))
      if (entry.is_regular_file())
        std::filesystem::last_write_time(
            entry.path(), std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  }

  Prepared prepare(Purpose purpose = Purpose::train, const std::filesystem::path& run = {}) {
    said.clear();
    return prepare_volumes(options, {.purpose = purpose,
                                     .cache_dir = cache(),
                                     .run_dir = run,
                                     .say = [&](const std::string& line) { said += line + "\n"; }});
  }
  PreparedVolumes volumes() {
    const Prepared prepared = prepare();
    return read_prepared(prepared.extra.at("volumes").get<std::string>());
  }
  std::string prepare_error() {
    return error_if_any([&] { prepare(); });
  }
  // A run's folder with what it keeps, as the tool makes it.
  std::filesystem::path make_run(const Prepared& prepared, const std::string& name = "run") {
    const std::filesystem::path run = path(name);
    make_directories(run / "recipe");
    for (const auto& file : prepared.keep)
      std::filesystem::copy_file(file, run / "recipe" / file.filename());
    write_file_atomic(run / "run.json", nlohmann::json{{"extra", prepared.extra}}.dump());
    return run;
  }

  static std::vector<std::string> ids_of(const std::vector<VolumeEntry>& entries) {
    std::vector<std::string> ids;
    for (const VolumeEntry& entry : entries) ids.push_back(entry.id);
    return ids;
  }

  static constexpr VolumeShape usual{.depth = 6, .height = 5, .width = 7};

  VolumeOptions options;
  std::string said;
  TemporaryDirectory folder_;
};

// The real data, or nothing where it is not there.
inline std::optional<std::filesystem::path> real_data(const std::string& name) {
  const char* const root = std::getenv("LOCKSTEP_TEST_DATA");
  if (root == nullptr) return std::nullopt;
  const std::filesystem::path path = std::filesystem::path(root) / "volume" / name;
  if (!std::filesystem::exists(path)) return std::nullopt;
  return path;
}

}  // namespace lockstep::volume
