// Segmenting volumes of files.
#include "base/files.h"
#include "base/text.h"
#include "media/zip_writer.h"
#include "recipes/volume/files/channel_files.h"
#include "recipes/volume/files/volume_writer.h"
#include "recipes/volume/model/recipe.h"
#include "recipes/volume/voxels/voxels.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

#include <filesystem>

namespace lockstep::volume {
namespace {
namespace fs = std::filesystem;

constexpr std::array<double, 3> unknown_spacing{1, 1, 1};

bool is_nifti(const std::string& name) {
  return name.ends_with(".nii") || name.ends_with(".nii.gz");
}

// [C, D, H, W], a view of the voxels: u8 or f32.
at::Tensor view_of(Voxels& voxels) {
  const VolumeShape& shape = voxels.shape;
  const std::vector<std::int64_t> sizes{shape.channels, shape.depth, shape.height, shape.width};
  const at::ScalarType type = voxels.type == VoxelType::u8    ? at::kByte
                              : voxels.type == VoxelType::u16 ? at::kUInt16
                                                              : at::kFloat;
  return at::from_blob(voxels.values.data(), sizes, type);
}

// [K, D, H, W] f32 on the CPU to the extents of `shape`, trilinear.
at::Tensor resampled(const at::Tensor& values, const VolumeShape& shape) {
  at::Tensor out = at::empty({values.size(0), shape.depth, shape.height, shape.width}, at::kFloat);
  for (std::int64_t c = 0; c < values.size(0); ++c) {
    const at::Tensor channel = values[c].contiguous();
    const auto* bytes = reinterpret_cast<const std::byte*>(channel.const_data_ptr<float>());
    Voxels one{.shape = {.depth = channel.size(0),
                         .height = channel.size(1),
                         .width = channel.size(2),
                         .channels = 1},
               .type = VoxelType::f32,
               .values = {bytes, bytes + channel.nbytes()},
               .source = {}};
    VolumeShape single = shape;
    single.channels = 1;
    Voxels there = resample(one, single);
    out[c].copy_(view_of(there)[0]);
  }
  return out;
}

// Planes [D, H, W] u8 or f32 of a file that lies as `source` does.
void write_planes(const fs::path& path, const at::Tensor& planes, const VolumeHeader& source) {
  VolumeHeader header = source;
  header.shape.channels = 1;
  header.type = planes.scalar_type() == at::kByte ? VoxelType::u8 : VoxelType::f32;
  header.slope = 1;
  header.intercept = 0;
  const auto writer = is_nifti(path.string()) ? create_nifti(path, header)
                                              : create_tiff(path, header, TiffCompression::deflate);
  const at::Tensor dense = planes.contiguous();
  const std::size_t bytes = dense.nbytes() / static_cast<std::size_t>(dense.size(0));
  const auto* data = static_cast<const std::byte*>(dense.const_data_ptr());
  for (std::int64_t z = 0; z < dense.size(0); ++z)
    writer->write_plane({data + static_cast<std::size_t>(z) * bytes, bytes});
  writer->finish();
}

// "7.nii.gz" and "_probability" to "7_probability.nii.gz".
std::string with_ending(const std::string& name, const std::string& ending) {
  const std::string suffix = name.ends_with(".nii.gz") ? ".nii.gz" : fs::path(name).extension();
  return name.substr(0, name.size() - suffix.size()) + ending + suffix;
}

class Submission : public PredictionWriter {
 public:
  explicit Submission(const fs::path& path) : zip_(path) {}
  void add(const PredictItem& item, std::string_view bytes) override {
    zip_.add(fs::path(item.output).filename().string(), bytes, ZipMethod::store);
  }
  void finish() override { zip_.finish(); }

 private:
  ZipWriter zip_;
};

}  // namespace

VolumeRecipe::Found VolumeRecipe::probabilities_of(Model& model, Voxels voxels,
                                                   const ItemContext& context) const {
  const VolumeShape original = voxels.shape;
  const std::array<double, 3> spacing = voxels.source.spacing_mm.value_or(unknown_spacing);
  if (spacing_) {
    if (!voxels.source.spacing_mm)
      throw Error("the file does not say its spacing, which data.spacing needs",
                  "give files with a spacing, such as NIfTI, or train without data.spacing");
    const VolumeShape wanted = resampled_shape(original, spacing, *spacing_);
    if (wanted != original) voxels = resample(voxels, wanted);
  }
  const std::vector<ChannelStatistics> statistics = statistics_of(voxels, {}, std::nullopt);
  std::vector<TiledNet> nets;
  const auto add = [&](const Model& each, const Normalization& how) {
    nets.push_back(
        {&dynamic_cast<const Net&>(each), normals_tensor(normal_of(how, voxels.type, statistics))});
  };
  add(model, normalization_);
  for (const FurtherRun& run : context.also)
    add(*run.model, normalization_from_json(run.extra.at("normalization")));
  const at::Tensor values = view_of(voxels);
  const VolumeShape& shape = voxels.shape;
  at::Tensor found =
      at::empty({shape_.outputs, shape.depth, shape.height, shape.width}, at::kFloat);
  for_probabilities(nets, tiles(context.device, context.compute_dtype),
                    {.extents = {shape.depth, shape.height, shape.width},
                     .read =
                         [&](RowRange rows) {
                           const at::Tensor planes = values.slice(1, rows.begin, rows.end);
                           return planes.scalar_type() == at::kByte ? planes
                                                                    : planes.to(at::kFloat);
                         }},
                    [&](RowRange rows, const at::Tensor& planes) {
                      found.slice(1, rows.begin, rows.end).copy_(planes);
                    });
  return {.probabilities = shape == original ? found : resampled(found, original),
          .warning = odd_values(training_values_, normalization_, voxels.type, statistics)};
}

ItemOutput VolumeRecipe::predict_item(Model& model, const PredictItem& item,
                                      const ItemContext& context) {
  const auto reader = open_item(item.path, shape_.channels);
  Voxels voxels = read_voxels(*reader);
  const VolumeHeader source = voxels.source;
  if (voxels.shape.channels != shape_.channels)
    throw Error(
        cat("it has ", voxels.shape.channels, voxels.shape.channels == 1 ? " channel" : " channels",
            ", but the model takes ", shape_.channels),
        "give volumes like those of the training");
  const auto [found, warning] = probabilities_of(model, std::move(voxels), context);
  at::Tensor mask = labels_of(found, threshold_);
  remove_small(mask);

  const auto scratch = [&](const std::string& name) {
    return context.scratch / cat(item.index, "-", fs::path(name).filename().string());
  };
  ItemOutput output;
  output.warning = warning;
  output.path = scratch(item.output);
  write_planes(output.path, mask, source);
  if (probabilities_)
    for (std::int64_t c = shape_.outputs == 1 ? 0 : 1; c < shape_.outputs; ++c) {
      const std::string name =
          with_ending(item.output, shape_.outputs == 1 ? "_probability" : cat("_probability_", c));
      write_planes(scratch(name), found[c], source);
      output.files.push_back({.name = name, .path = scratch(name)});
    }
  if (submission_.empty()) return output;
  output.bytes = read_file(output.path);
  fs::remove(output.path);
  output.path.clear();
  return output;
}

std::unique_ptr<PredictionWriter> VolumeRecipe::prediction_writer(JointOutputs& outputs) {
  if (submission_.empty()) return nullptr;
  return std::make_unique<Submission>(outputs.open(submission_).path());
}

}  // namespace lockstep::volume
