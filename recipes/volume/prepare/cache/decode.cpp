// Decodes volumes, with all checks that need their voxels.
#include "recipes/volume/prepare/cache/decode.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "recipes/volume/files/same_place.h"
#include "recipes/volume/voxels/cache_writer.h"

namespace lockstep::volume {
namespace {

namespace fs = std::filesystem;
using Extents = std::array<std::int64_t, 3>;

struct Readers {
  std::unique_ptr<VolumeReader> image, label;
};

VolumeShape without_channels(VolumeShape shape) {
  shape.channels = 1;
  return shape;
}

// Throws Error unless the NIfTI headers give image and label the same position in space.
void check_same_place(const Pair& pair, const VolumeHeader& image, const VolumeHeader& label) {
  const SamePlace same = same_place(image, label);
  if (same == SamePlace::yes) return;
  throw Error(cat("image and label of ", pair.id, " lie in different places: ", pair.image.string(),
                  " has ", describe_place(image), ", ", pair.label.string(), " has ",
                  describe_place(label)),
              same == SamePlace::unknown
                  ? "if their voxels belong together one by one, set files.same_grid=true, or copy "
                    "the affine: nibabel.Nifti1Image(label.dataobj, image.affine)"
                  : "bring the label onto the grid of its image, for example with nibabel's "
                    "resample_from_to and order=0");
}

Readers open_pair(const Pair& pair, const DecodeOptions& how) {
  Readers readers{open_channels(pair.images(), {.as_planes = how.as_planes}),
                  open_volume(pair.label, {.as_planes = how.as_planes, .labels = true})};
  const VolumeShape &image = readers.image->header().shape, &label = readers.label->header().shape;
  if (without_channels(image) != without_channels(label))
    throw Error(cat("image and label of ", pair.id, " differ: ", pair.image.string(), " is ",
                    describe(without_channels(image)), ", but ", pair.label.string(), " is ",
                    describe(without_channels(label))),
                "both must have the same planes, rows and columns");
  if (!how.same_grid) check_same_place(pair, readers.image->header(), readers.label->header());
  if (how.channels > 0 && image.channels != how.channels)
    throw Error(cat(pair.image.string(), " has ", image.channels,
                    image.channels == 1 ? " channel" : " channels", ", but data.channels is ",
                    how.channels),
                "leave data.channels at 0 to take what the files have");
  return readers;
}

// The extents that the volume has in the cache.
VolumeShape cached_shape(const Pair& pair, const VolumeHeader& image, const DecodeOptions& how) {
  if (!how.spacing) return image.shape;
  if (!image.spacing_mm)
    throw Error(cat("data.spacing is set, but ", pair.image.string(), " does not say its own"),
                "leave out data.spacing, or write the spacing into the files (NIfTI, or a TIFF of "
                "ImageJ or OME)");
  const VolumeShape shape = resampled_shape(image.shape, *image.spacing_mm, *how.spacing);
  check_shape(shape, cat(pair.image.string(), " at data.spacing"), {.allow_2d = true});
  return shape;
}

CachedHeader header_from(const Pair& pair, const VolumeHeader& image, const DecodeOptions& how) {
  const bool stays = (image.type == VoxelType::u8 || image.type == VoxelType::u16) &&
                     image.slope == 1 && image.intercept == 0;
  CachedHeader header{.shape = cached_shape(pair, image, how),
                      .type = stays ? image.type : VoxelType::f32,
                      .labelled = true,
                      .ignore = how.ignore.value_or(-1),
                      .spacing_known = image.spacing_mm.has_value(),
                      .white_is_zero = image.white_is_zero};
  if (image.spacing_mm) header.spacing_mm = how.spacing.value_or(*image.spacing_mm);
  return header;
}

void check_any_counts(const std::vector<std::uint8_t>& labels, const Pair& pair,
                      const DecodeOptions& how) {
  const auto ignored = [&](std::uint8_t label) { return label == how.ignore; };
  if (!how.ignore || !std::all_of(labels.begin(), labels.end(), ignored)) return;
  throw Error(cat("there is nothing to learn from ", pair.label.string(),
                  ": all of its labels are ", *how.ignore, ", which is ignored (data.ignore)"),
              "leave the volume out, by a table of the others (data.csv), or see that data.ignore "
              "is meant");
}

}  // namespace

DecodeOptions decode_options(const VolumeOptions& options) {
  return {.spacing = options.spacing(),
          .ignore = options.ignore(),
          .classes = options.data.classes,
          .channels = options.data.channels,
          .same_grid = options.files.same_grid,
          .as_planes = options.files.as_planes};
}

DecodeOptions training_options(const VolumeOptions& options) {
  DecodeOptions how = decode_options(options);
  if (!options.data.pad) how.patch = options.patch();
  return how;
}

void check_holds_patch(const fs::path& image, const Extents& extents, const DecodeOptions& how) {
  if (!how.patch) return;
  const Extents& patch = *how.patch;
  if (extents[0] >= patch[0] && extents[1] >= patch[1] && extents[2] >= patch[2]) return;
  throw Error(cat("the volume ", image.string(), " is ", extents[0], " x ", extents[1], " x ",
                  extents[2], how.spacing ? cat(" at ", describe_spacing(*how.spacing)) : "",
                  ", smaller than data.patch, ", patch[0], " x ", patch[1], " x ", patch[2]),
              "set data.patch to at most that, or data.pad=true to fill up what is missing");
}

CachedHeader header_of(const Pair& pair, const DecodeOptions& how) {
  const Readers readers = open_pair(pair, how);
  CachedHeader header = header_from(pair, readers.image->header(), how);
  check_holds_patch(pair.image, {header.shape.depth, header.shape.height, header.shape.width}, how);
  return header;
}

double decode_bytes(const Pair& pair, const DecodeOptions& how) {
  const Readers readers = open_pair(pair, how);
  const VolumeHeader& image = readers.image->header();
  const CachedHeader header = header_from(pair, image, how);
  const auto voxels = [](const VolumeShape& shape) {
    return static_cast<double>(shape.depth) * static_cast<double>(shape.height) *
           static_cast<double>(shape.width);
  };
  const auto bytes = [&](const VolumeShape& shape) {  // labels are included
    return voxels(shape) *
           (static_cast<double>(shape.channels) * static_cast<double>(bytes_of(header.type)) + 1);
  };
  return bytes(image.shape) + (header.shape == image.shape ? 0 : bytes(header.shape));
}

void decode(const Pair& pair, const DecodeOptions& how, const std::filesystem::path& cached) {
  const Readers readers = open_pair(pair, how);
  CachedHeader header = header_from(pair, readers.image->header(), how);
  std::vector<std::uint8_t> labels = read_labels(*readers.label, how.classes, how.ignore);
  check_any_counts(labels, pair, how);
  Voxels voxels = read_voxels(*readers.image);
  if (header.shape != voxels.shape) {
    labels = resample_labels(labels, voxels.shape, header.shape);
    voxels = resample(voxels, header.shape);
  }
  // Statistics include ignored voxels, because ignored voxels of a volume to predict are unknown.
  header.channels = statistics_of(voxels, {}, std::nullopt);
  write_cached(cached, voxels, labels, header);
}

}  // namespace lockstep::volume
