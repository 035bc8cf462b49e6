// Training samples: patches of the volumes, drawn and turned at random.
#pragma once

#include "recipes/volume/model/placement.h"
#include "recipes/volume/voxels/cached_volume.h"
#include "recipes/volume/voxels/prepared_volumes.h"
#include "training/data/dataset.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace lockstep::volume {

// A volume of the data set, mapped.
struct MappedVolume {
  VolumeEntry entry;
  std::shared_ptr<const CachedVolume> voxels;
  std::vector<ChannelNormal> normals;  // per channel
};
std::vector<MappedVolume> map_volumes(const std::vector<VolumeEntry>& entries,
                                      const Normalization& how);

// The label of patch voxels that are left out: ignored ones, and those beyond the volume.
inline constexpr std::uint8_t no_label = 255;

// f32 [C, 4]: low, high, shift, scale of each channel.
at::Tensor normals_tensor(const std::vector<ChannelNormal>& normals);

struct PatchOptions {
  Triple size{64, 64, 64};
  std::int64_t per_volume = 8;
  double positive = 0.6;
  int ignore = -1;                 // label that becomes no_label; -1: none
  VoxelType type = VoxelType::u8;  // u8 if all volumes are u8; otherwise all become f32
  TurnOptions turn{};
  WarpOptions warp{};
};

// Sample i is patch i % per_volume of volume i / per_volume. Everything random about it depends
// only on (seed, epoch, i). Fields: image [C, d, h, w] u8 or f32, values as stored; labels u8 [d,
// h, w]; f32 [C, 4], the normals_tensor of its volume.
class Patches : public Dataset {
 public:
  Patches(std::vector<MappedVolume> volumes, const PatchOptions& options);
  std::int64_t size() const override;
  std::vector<at::Tensor> get(std::int64_t index, SampleContext& context) const override;

 private:
  Triple corner_of(const MappedVolume& volume, Random& random) const;

  std::vector<MappedVolume> volumes_;
  PatchOptions options_;
};

// Validation samples: whole volumes, identified by number. Fields: i64 [].
class WholeVolumes : public Dataset {
 public:
  explicit WholeVolumes(std::int64_t count) : count_(count) {}
  std::int64_t size() const override { return count_; }
  std::vector<at::Tensor> get(std::int64_t index, SampleContext&) const override;

 private:
  std::int64_t count_;
};

}  // namespace lockstep::volume
