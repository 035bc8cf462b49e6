#include "recipes/volume/model/patches.h"

#include "recipes/volume/model/cut.h"
#include "recipes/volume/model/placement.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/scalar_tensor.h>

#include <utility>

namespace lockstep::volume {
namespace {

// Keeps the draws of patches independent of all other draws with the same seed.
constexpr std::uint64_t patch_seed = 0x766f6c756d65;

// Cuts patches: image [C, d, h, w] and labels [d, h, w]. From: the stored type. To: the type in the
// batch.
template <class From, class To>
class Cutter {
 public:
  Cutter(const MappedVolume& volume, const Triple& size, int ignore)
      : size_(size), ignore_(ignore) {
    const VolumeShape& shape = volume.voxels->shape();
    const Triple extents{shape.depth, shape.height, shape.width};
    const VolumeEntry& entry = volume.entry;
    const From* values = reinterpret_cast<const From*>(volume.voxels->image().data());
    const std::int64_t voxels = shape.depth * shape.height * shape.width;
    for (std::int64_t c = 0; c < shape.channels; ++c)
      channels_.push_back({values + c * voxels, extents, entry.begin, entry.end});
    truth_ = {volume.voxels->labels().data(), extents, entry.begin, entry.end};
  }

  void copy(const Turned& box, To* image, std::uint8_t* labels) const {
    for (std::size_t c = 0; c < channels_.size(); ++c)
      copy_turned(channels_[c], box, size_, To{0}, image + patch() * static_cast<std::int64_t>(c));
    copy_turned(truth_, box, size_, no_label, labels);
    mark_ignored(labels);
  }

  void warp(const Warp& warp, To* image, std::uint8_t* labels) const {
    PlaceRow row;
    for (std::int64_t z = 0, at = 0; z < size_[0]; ++z)
      for (std::int64_t y = 0; y < size_[1]; ++y, at += size_[2]) {
        warp.row(z, y, row.places);
        row.locate(truth_.extents, truth_.begin, truth_.end);
        for (std::size_t c = 0; c < channels_.size(); ++c)
          interpolate(channels_[c], row, image + patch() * static_cast<std::int64_t>(c) + at);
        take_nearest(truth_, row, no_label, labels + at);
      }
    mark_ignored(labels);
  }

 private:
  std::int64_t patch() const { return size_[0] * size_[1] * size_[2]; }

  void mark_ignored(std::uint8_t* labels) const {
    if (ignore_ < 0) return;
    const auto ignore = static_cast<std::uint8_t>(ignore_);
    const std::int64_t count = patch();
    for (std::int64_t i = 0; i < count; ++i) labels[i] = labels[i] == ignore ? no_label : labels[i];
  }

  Triple size_;
  int ignore_;  // -1 = none
  std::vector<Grid<From>> channels_;
  Grid<std::uint8_t> truth_{};
};

}  // namespace

std::vector<MappedVolume> map_volumes(const std::vector<VolumeEntry>& entries,
                                      const Normalization& how) {
  std::vector<MappedVolume> volumes;
  for (const VolumeEntry& entry : entries) {
    auto voxels = std::make_shared<const CachedVolume>(entry.cached);
    const CachedHeader& header = voxels->header();
    volumes.push_back({entry, voxels, normal_of(how, header.type, header.channels)});
  }
  return volumes;
}

at::Tensor normals_tensor(const std::vector<ChannelNormal>& normals) {
  at::Tensor tensor = at::empty({std::ssize(normals), 4}, at::kFloat);
  float* out = tensor.mutable_data_ptr<float>();
  for (const ChannelNormal& normal : normals)
    for (const float value : {normal.low, normal.high, normal.shift, normal.scale}) *out++ = value;
  return tensor;
}

Patches::Patches(std::vector<MappedVolume> volumes, const PatchOptions& options)
    : volumes_(std::move(volumes)), options_(options) {}

std::int64_t Patches::size() const { return std::ssize(volumes_) * options_.per_volume; }

Triple Patches::corner_of(const MappedVolume& volume, Random& random) const {
  const VolumeShape& shape = volume.voxels->shape();
  const VolumeEntry& entry = volume.entry;
  const Triple begin{entry.begin, 0, 0}, end{entry.end, shape.height, shape.width};
  const bool positive = random.uniform() < options_.positive;
  const std::int64_t count = volume.voxels->positives(entry.begin, entry.end);
  if (!positive || count == 0) return any_corner(options_.size, begin, end, random);
  const auto chosen = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(count)));
  return corner_around(volume.voxels->positive(entry.begin, entry.end, chosen), options_.size,
                       begin, end);
}

std::vector<at::Tensor> Patches::get(std::int64_t index, SampleContext& context) const {
  const MappedVolume& volume = volumes_.at(static_cast<std::size_t>(index / options_.per_volume));
  const Triple& size = options_.size;
  Random random(context.seed ^ patch_seed, RandomStream::sample,
                static_cast<std::uint64_t>(context.epoch), static_cast<std::uint64_t>(index));
  const Triple corner = corner_of(volume, random);
  const Turned box = turned_box(corner, size, options_.turn, random);
  at::Tensor image = at::empty({volume.voxels->shape().channels, size[0], size[1], size[2]},
                               options_.type == VoxelType::u8 ? at::kByte : at::kFloat);
  at::Tensor labels = at::empty({size[0], size[1], size[2]}, at::kByte);
  const auto cut = [&]<class From, class To>(const From*, To* out) {
    const Cutter<From, To> cutter(volume, size, options_.ignore);
    auto* truth = labels.mutable_data_ptr<std::uint8_t>();
    if (options_.warp.any())
      cutter.warp(Warp(box, size, volume.voxels->header().spacing_mm, options_.warp, random), out,
                  truth);
    else
      cutter.copy(box, out, truth);
  };
  const std::byte* stored = volume.voxels->image().data();
  if (options_.type == VoxelType::u8) {
    cut(reinterpret_cast<const std::uint8_t*>(stored), image.mutable_data_ptr<std::uint8_t>());
  } else {
    auto* out = image.mutable_data_ptr<float>();
    switch (volume.voxels->header().type) {
      case VoxelType::u8:
        cut(reinterpret_cast<const std::uint8_t*>(stored), out);
        break;
      case VoxelType::u16:
        cut(reinterpret_cast<const std::uint16_t*>(stored), out);
        break;
      default:
        cut(reinterpret_cast<const float*>(stored), out);
    }
  }
  return {image, labels, normals_tensor(volume.normals)};
}

std::vector<at::Tensor> WholeVolumes::get(std::int64_t index, SampleContext&) const {
  return {at::scalar_tensor(index, at::kLong)};
}

}  // namespace lockstep::volume
