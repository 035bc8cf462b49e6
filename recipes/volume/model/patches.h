// The data sets of the volume recipe: random patches of volumes for training, and whole volumes for
// validation.
#pragma once

#include "recipes/volume/model/placement.h"
#include "recipes/volume/voxels/cached_volume.h"
#include "recipes/volume/voxels/prepared_volumes.h"
#include "training/data/dataset.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace lockstep::volume {

// A volume of the data set, whose voxels are mapped into memory.
struct MappedVolume {
  VolumeEntry entry;
  std::shared_ptr<const CachedVolume> voxels;
  std::vector<ChannelNormal> normals;  // one for each channel
};
std::vector<MappedVolume> map_volumes(const std::vector<VolumeEntry>& entries,
                                      const Normalization& how);

// The label of those voxels of a patch that the loss leaves out. These are voxels with the ignored
// label (data.ignore), and voxels beyond the volume.
inline constexpr std::uint8_t no_label = 255;

// Returns f32 [C, 4]: low, high, shift and scale of each channel (ChannelNormal).
at::Tensor normals_tensor(const std::vector<ChannelNormal>& normals);

struct PatchOptions {
  Triple size{64, 64, 64};
  std::int64_t per_volume = 8;
  double positive = 0.6;
  int ignore = -1;                 // label that becomes no_label; -1: none
  VoxelType type = VoxelType::u8;  // type of the samples: u8 if all volumes are u8, else f32
  TurnOptions turn{};
  WarpOptions warp{};
};

// The samples of training. Sample i is patch i % per_volume of volume i / per_volume. Its random
// draws depend only on (seed, epoch, i). The tensors of a sample are:
//   - the stored values: u8 or f32 [C, d, h, w]
//   - the labels: u8 [d, h, w]
//   - the normals_tensor of the volume: f32 [C, 4]
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

// The samples of validation. A sample has only one tensor: the index of a volume, i64 [].
class WholeVolumes : public Dataset {
 public:
  explicit WholeVolumes(std::int64_t count) : count_(count) {}
  std::int64_t size() const override { return count_; }
  std::vector<at::Tensor> get(std::int64_t index, SampleContext&) const override;

 private:
  std::int64_t count_;
};

}  // namespace lockstep::volume
