#include "recipes/volume/model/patches.h"

#include "recipes/volume/model/placement.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/scalar_tensor.h>

#include <cmath>
#include <type_traits>
#include <utility>

namespace lockstep::volume {
namespace {

// Draws of patches are apart from all others of the seed.
constexpr std::uint64_t patch_seed = 0x766f6c756d65;

template <class T>
T rounded(float value) {
  if constexpr (std::is_floating_point_v<T>) return value;
  return static_cast<T>(std::lround(value));
}

// [D, H, W] of one channel, or labels.
template <class T>
struct Grid {
  const T* values;
  Triple extents;
  std::int64_t begin = 0, end = 0;  // planes that are used
  bool has(std::int64_t z, std::int64_t y, std::int64_t x) const {
    return z >= begin && z < end && y >= 0 && y < extents[1] && x >= 0 && x < extents[2];
  }
  std::int64_t offset(std::int64_t z, std::int64_t y, std::int64_t x) const {
    return (z * extents[1] + y) * extents[2] + x;
  }
};

// Copies a box, in rows; voxels beyond the volume get `outside`.
template <class From, class To, class Convert>
void copy_turned(const Grid<From>& from, const Turned& box, const Triple& size, To outside, To* out,
                 Convert convert) {
  const Triple& across = box.step[2];
  const std::int64_t stride = from.offset(across[0], across[1], across[2]);
  for (std::int64_t z = 0; z < size[0]; ++z)
    for (std::int64_t y = 0; y < size[1]; ++y, out += size[2]) {
      Triple at{}, last{};
      for (std::size_t i = 0; i < 3; ++i) {
        at[i] = box.origin[i] + box.step[0][i] * z + box.step[1][i] * y;
        last[i] = at[i] + across[i] * (size[2] - 1);
      }
      if (from.has(at[0], at[1], at[2]) && from.has(last[0], last[1], last[2])) {
        const From* source = from.values + from.offset(at[0], at[1], at[2]);
        if (stride == 1)
          for (std::int64_t x = 0; x < size[2]; ++x) out[x] = convert(source[x]);
        else
          for (std::int64_t x = 0; x < size[2]; ++x) out[x] = convert(source[x * stride]);
        continue;
      }
      for (std::int64_t x = 0; x < size[2]; ++x) {
        const std::int64_t a = at[0] + across[0] * x, b = at[1] + across[1] * x,
                           c = at[2] + across[2] * x;
        out[x] = from.has(a, b, c) ? convert(from.values[from.offset(a, b, c)]) : outside;
      }
    }
}

// Between eight voxels; 0 beyond the volume.
template <class T>
float trilinear(const Grid<T>& from, const std::array<float, 3>& place) {
  Triple low{};
  std::array<float, 3> share{};
  for (std::size_t i = 0; i < 3; ++i) {
    const float floor = std::floor(place[i]);
    low[i] = static_cast<std::int64_t>(floor);
    share[i] = place[i] - floor;
  }
  const bool inside =
      from.has(low[0], low[1], low[2]) && from.has(low[0] + 1, low[1] + 1, low[2] + 1);
  float sum = 0;
  for (int corner = 0; corner < 8; ++corner) {
    const int dz = corner >> 2, dy = corner >> 1 & 1, dx = corner & 1;
    if (!inside && !from.has(low[0] + dz, low[1] + dy, low[2] + dx)) continue;
    sum += (dz != 0 ? share[0] : 1 - share[0]) * (dy != 0 ? share[1] : 1 - share[1]) *
           (dx != 0 ? share[2] : 1 - share[2]) *
           static_cast<float>(from.values[from.offset(low[0] + dz, low[1] + dy, low[2] + dx)]);
  }
  return sum;
}

struct LabelMap {
  int ignore;  // -1: none
  std::uint8_t outside;
  std::uint8_t operator()(std::uint8_t label) const {
    return static_cast<int>(label) == ignore ? outside : label;
  }
};

// From (stored) to To (of the batch): image [C, d, h, w], labels [d, h, w].
template <class From, class To>
class Cutter {
 public:
  Cutter(const MappedVolume& volume, const Triple& size, const LabelMap& map)
      : size_(size), map_(map) {
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
    for (const Grid<From>& channel : channels_) {
      copy_turned(channel, box, size_, To{0}, image,
                  [](From value) { return static_cast<To>(value); });
      image += size_[0] * size_[1] * size_[2];
    }
    copy_turned(truth_, box, size_, map_.outside, labels, map_);
  }

  void warp(const Warp& warp, To* image, std::uint8_t* labels) const {
    const std::int64_t patch = size_[0] * size_[1] * size_[2];
    std::vector<std::array<float, 3>> places;
    for (std::int64_t z = 0, at = 0; z < size_[0]; ++z)
      for (std::int64_t y = 0; y < size_[1]; ++y) {
        warp.row(z, y, places);
        for (const auto& place : places) {
          To* out = image + at;
          for (const Grid<From>& channel : channels_) {
            *out = rounded<To>(trilinear(channel, place));
            out += patch;
          }
          const std::int64_t a = std::lround(place[0]), b = std::lround(place[1]),
                             c = std::lround(place[2]);
          labels[at++] =
              truth_.has(a, b, c) ? map_(truth_.values[truth_.offset(a, b, c)]) : map_.outside;
        }
      }
  }

 private:
  Triple size_;
  LabelMap map_;
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
  const LabelMap map{options_.ignore, no_label};
  at::Tensor image = at::empty({volume.voxels->shape().channels, size[0], size[1], size[2]},
                               options_.type == VoxelType::u8 ? at::kByte : at::kFloat);
  at::Tensor labels = at::empty({size[0], size[1], size[2]}, at::kByte);
  const auto cut = [&]<class From, class To>(const From*, To* out) {
    const Cutter<From, To> cutter(volume, size, map);
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
