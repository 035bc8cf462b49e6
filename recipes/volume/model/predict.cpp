// Segments volumes in files.
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "core/media/zip_writer.h"
#include "recipes/volume/files/channel_files.h"
#include "recipes/volume/files/volume_writer.h"
#include "recipes/volume/model/recipe.h"
#include "recipes/volume/voxels/voxels.h"
#include "runtime/run/predictions/prediction_folder.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

#include <filesystem>

namespace lockstep::volume {
namespace {
namespace fs = std::filesystem;

bool is_nifti(const std::string& name) {
  return name.ends_with(".nii") || name.ends_with(".nii.gz");
}

// A view of the voxels as [C, D, H, W], u8, u16 or f32.
at::Tensor view_of(Voxels& voxels) {
  const VolumeShape& shape = voxels.shape;
  const std::vector<std::int64_t> sizes{shape.channels, shape.depth, shape.height, shape.width};
  const at::ScalarType type = voxels.type == VoxelType::u8    ? at::kByte
                              : voxels.type == VoxelType::u16 ? at::kUInt16
                                                              : at::kFloat;
  return at::from_blob(voxels.values.data(), sizes, type);
}

// Resamples [K, D, H, W] f32 on the CPU to the extents of `shape`, trilinearly.
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

// Writes planes [D, H, W], u8 or f32, to a file with the position and axes of `source`.
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

// Turns "7.nii.gz" and "_probability" into "7_probability.nii.gz".
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

std::unique_ptr<VolumeReader> VolumeRecipe::open_for(const PredictItem& item) const {
  auto reader = open_item(item.path, shape_.channels, read_);
  const std::int64_t channels = reader->header().shape.channels;
  if (channels != shape_.channels)
    throw Error(cat("it has ", channels, channels == 1 ? " channel" : " channels",
                    ", but the model takes ", shape_.channels),
                "give volumes like those of the training");
  return reader;
}

RowRange VolumeRecipe::piece_planes(const VolumeShape& shape, ItemPiece piece,
                                    const ItemContext& context) const {
  return planes_of_piece(tiles(context.device, context.compute_dtype),
                         {shape.depth, shape.height, shape.width}, piece.index, piece.count);
}

VolumeShape VolumeRecipe::model_shape(const VolumeHeader& header) const {
  if (!spacing_) return header.shape;
  if (!header.spacing_mm)
    throw Error("the file does not say its spacing, which data.spacing needs",
                "give files with a spacing, such as NIfTI, or train without data.spacing");
  return resampled_shape(header.shape, *header.spacing_mm, *spacing_);
}

at::Tensor VolumeRecipe::probabilities_of(Model& model, Voxels voxels, RowRange rows,
                                          const ItemContext& context, std::string& warning) const {
  const VolumeShape shape = model_shape(voxels.source);
  if (shape != voxels.shape) voxels = resample(voxels, shape);
  const std::vector<ChannelStatistics> statistics = statistics_of(voxels, {}, std::nullopt);
  warning = odd_values(training_values_, normalization_, voxels.type, statistics);
  std::vector<TiledNet> nets;
  const auto add = [&](const Model& each, const Normalization& how) {
    nets.push_back(
        {&dynamic_cast<const Net&>(each), normals_tensor(normal_of(how, voxels.type, statistics))});
  };
  add(model, normalization_);
  for (const FurtherRun& run : context.also)
    add(*run.model, normalization_from_json(run.extra.at("normalization")));
  const at::Tensor values = view_of(voxels);
  at::Tensor found =
      at::empty({shape_.outputs, rows.end - rows.begin, shape.height, shape.width}, at::kFloat);
  const auto read = [&](RowRange wanted) {
    const at::Tensor planes = values.slice(1, wanted.begin, wanted.end);
    return planes.scalar_type() == at::kByte ? planes : planes.to(at::kFloat);
  };
  for_probabilities(
      nets, tiles(context.device, context.compute_dtype),
      {.extents = {shape.depth, shape.height, shape.width}, .rows = rows, .read = read},
      [&](RowRange done, const at::Tensor& planes) {
        found.slice(1, done.begin - rows.begin, done.end - rows.begin).copy_(planes);
      });
  return found;
}

ItemOutput VolumeRecipe::output_of(const PredictItem& item, const VolumeHeader& source,
                                   const at::Tensor& found, const ItemContext& context) const {
  const at::Tensor there =
      model_shape(source) == source.shape ? found : resampled(found, source.shape);
  at::Tensor mask = labels_of(there, threshold_);
  remove_small(mask);

  const auto scratch = [&](const std::string& name) {
    return context.scratch / cat(item.index, "-", fs::path(name).filename().string());
  };
  ItemOutput output;
  output.path = scratch(item.output);
  write_planes(output.path, mask, source);
  if (probabilities_)
    for (std::int64_t c = shape_.outputs == 1 ? 0 : 1; c < shape_.outputs; ++c) {
      const std::string name =
          with_ending(item.output, shape_.outputs == 1 ? "_probability" : cat("_probability_", c));
      write_planes(scratch(name), there[c], source);
      output.files.push_back({.name = name, .path = scratch(name)});
    }
  if (submission_.empty()) return output;
  output.bytes = read_file(output.path, data_bytes);
  fs::remove(output.path);
  output.path.clear();
  return output;
}

ItemOutput VolumeRecipe::predict_item(Model& model, const PredictItem& item,
                                      const ItemContext& context) {
  const auto reader = open_for(item);
  const VolumeHeader source = reader->header();
  std::string warning;
  const at::Tensor found = probabilities_of(model, read_voxels(*reader),
                                            {0, model_shape(source).depth}, context, warning);
  ItemOutput output = output_of(item, source, found, context);
  output.warning = warning;
  return output;
}

// Writes the probabilities of the piece's planes to a file of its own.
ItemOutput VolumeRecipe::predict_piece(Model& model, const PredictItem& item, ItemPiece piece,
                                       const ItemContext& context) {
  const auto reader = open_for(item);
  const RowRange rows = piece_planes(model_shape(reader->header()), piece, context);
  ItemOutput output;
  if (rows.begin == rows.end) return output;
  const at::Tensor found =
      probabilities_of(model, read_voxels(*reader), rows, context, output.warning);
  output.path = context.scratch / cat(item.index, "-piece-", piece.index);
  write_output(output.path, {static_cast<const char*>(found.const_data_ptr()), found.nbytes()});
  return output;
}

ItemOutput VolumeRecipe::join_pieces(const PredictItem& item, const std::vector<ItemOutput>& pieces,
                                     const ItemContext& context) {
  const VolumeHeader source = open_for(item)->header();
  const VolumeShape shape = model_shape(source);
  at::Tensor found =
      at::empty({shape_.outputs, shape.depth, shape.height, shape.width}, at::kFloat);
  std::string warning;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (warning.empty()) warning = pieces[i].warning;
    const RowRange rows =
        piece_planes(shape, {static_cast<std::int64_t>(i), std::ssize(pieces)}, context);
    if (rows.begin == rows.end) continue;
    std::string bytes = read_file(pieces[i].path, data_bytes);
    at::Tensor planes = found.slice(1, rows.begin, rows.end);
    if (bytes.size() != planes.nbytes())
      throw Error(cat("a piece of ", item.name, " holds ", bytes.size(), " bytes in place of ",
                      planes.nbytes()));
    planes.copy_(at::from_blob(bytes.data(), planes.sizes(), at::kFloat));
  }
  ItemOutput output = output_of(item, source, found, context);
  output.warning = warning;
  return output;
}

std::unique_ptr<PredictionWriter> VolumeRecipe::prediction_writer(JointOutputs& outputs) {
  if (submission_.empty()) return nullptr;
  return std::make_unique<Submission>(outputs.open(submission_).path());
}

}  // namespace lockstep::volume
