// Small volumes in cache files, for tests of the model's half.
#pragma once

#include "core/base/files/files.h"
#include "core/base/philox.h"
#include "recipes/volume/model/patches.h"
#include "recipes/volume/voxels/cache_writer.h"

#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace lockstep::volume {

// Writes volumes whose voxels and labels are functions of z, y, x.
class CachedVolumes {
 public:
  using Value = std::function<int(std::int64_t, std::int64_t, std::int64_t)>;

  VolumeEntry add(const std::string& id, const Triple& extents, const Value& value,
                  const Value& label, int ignore = -1) {
    const VolumeShape shape{.depth = extents[0], .height = extents[1], .width = extents[2]};
    Voxels voxels{.shape = shape, .type = VoxelType::u8, .values = {}, .source = {}};
    std::vector<std::uint8_t> labels;
    for (std::int64_t z = 0; z < extents[0]; ++z)
      for (std::int64_t y = 0; y < extents[1]; ++y)
        for (std::int64_t x = 0; x < extents[2]; ++x) {
          voxels.values.push_back(static_cast<std::byte>(value(z, y, x)));
          labels.push_back(static_cast<std::uint8_t>(label(z, y, x)));
        }
    CachedHeader header;
    header.ignore = ignore;
    header.channels = statistics_of(
        voxels, labels, ignore < 0 ? std::nullopt : std::optional<std::int64_t>(ignore));
    const auto path = folder_.path() / (id + ".vol");
    write_cached(path, voxels, labels, header);
    return {.id = id, .cached = path, .begin = 0, .end = extents[0], .shape = shape};
  }

 private:
  TemporaryDirectory folder_;
};

inline std::vector<at::Tensor> sample_of(const Dataset& data, std::int64_t index,
                                         std::int64_t epoch = 0, std::int64_t row = 0) {
  SampleContext context{.seed = 7,
                        .epoch = epoch,
                        .step = row,
                        .global_row = row,
                        .random = Random(7, RandomStream::augment, 0, 0)};
  return data.get(index, context);
}

}  // namespace lockstep::volume
