// The options of the volume recipe, and values that are computed from the options alone.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "planning/options/prepared_options.h"
#include "recipes/volume/files/volume_header.h"
#include "recipes/volume/voxels/statistics.h"

namespace lockstep::volume {

enum class Save { mask, probabilities };
enum class TileWeights { gaussian, uniform };
enum class ToleranceUnit { voxels, mm };

// The shape of the residual attention U-Net. The network has `width` channels at full resolution.
// Each coarser level has twice as many channels as the level before.
struct NetShape {
  std::int64_t channels = 1;  // channels of the input
  // logits per voxel: 1 if there is one class, else the number of classes
  std::int64_t outputs = 1;
  std::int64_t width = 32, depth = 4;
  bool attention = true;
  double dropout = 0.2;  // at the encoder's deepest level; rises linearly from 0 at level 0
  double decoder_dropout = 0.15;  // at the decoder's deepest level; rises in the same way
  bool deep_supervision = false;
};
std::int64_t parameter_count(const NetShape& shape);
// Returns the number of channels between the two layers of channel attention.
std::int64_t bottleneck(std::int64_t width);

struct VolumeOptions : PreparedOptions<VolumeOptions> {
  VolumeOptions();  // adds the options to `table`

  struct {
    std::int64_t width = 32, depth = 4;
    bool attention = true, deep_supervision = false;
    double dropout = 0.2, decoder_dropout = 0.15;
  } model;
  struct {
    std::string path;            // empty: a small generated data set
    std::string images, labels;  // folders; empty: searched for in `path`
    // A table with the column `id`, which names the images to use. If empty, it is train.csv beside
    // the folder of images, or test.csv for images of a test set. If that file does not exist, all
    // images are used.
    std::string csv;
    std::vector<std::string> valid;  // ids, or a file of ids; empty: by folds or valid_share
    double valid_share = 0.2;        // share of the volumes, or of the planes of a single volume
    std::int64_t folds = 0, fold = 0;
    std::int64_t classes = 1;   // 1: only foreground; 2 or more: includes the background
    std::int64_t ignore = 2;    // label of voxels that are left out; -1: none
    std::int64_t channels = 0;  // 0: the number in the files
    Normalize normalize = Normalize::divide;
    double divide = 0;                     // 0: 255 for u8, 65,535 for u16, 1 for other types
    std::vector<std::string> patch{"64"};  // one number, or z,y,x, in voxels
    std::vector<std::string> spacing;      // z,y,x of resampled volumes, in mm; empty: none
    bool pad = false;                      // whether volumes may be smaller than a patch
    std::int64_t patches = 8;              // number of patches per volume and epoch
    double positive = 0.6;                 // share of patches placed around foreground
    double cache_gb = 0;                   // limit of the cache, in 10^9 bytes; 0: only the disk
  } data;
  // How files are read. These options may differ from those of an existing run.
  struct {
    bool same_grid = false;  // whether affines of image and label may differ
    bool as_planes = false;  // ReadVolume::as_planes
  } files;
  struct {
    bool flip = true, rotate90 = true;
    double brightness = 0.2, contrast = 0.3;
    double rotate = 0;   // largest angle, in degrees
    double scale = 0;    // sizes change by up to this share
    double elastic = 0;  // largest shift, in voxels
    double gamma = 0;    // the exponent is in [1 - gamma, 1 + gamma]
    double noise = 0;    // standard deviation, after normalisation
  } augment;
  struct {
    double dice = 0.6, focal = 0.2, bce = 0.2, focal_alpha = 0.25, focal_gamma = 2;
  } loss;
  struct {
    double tolerance = 2;
    ToleranceUnit unit = ToleranceUnit::voxels;
    bool topology = true;
    std::string labels;   // folder for `lockstep score`; empty: searched for in data.path
    std::string summary;  // a file, or "none"; empty: summary.json beside the predictions
  } scoring;              // the options score.*
  struct {
    // A folder of volumes. If empty, it is the folder test_images, imagesTs or test in data.path.
    std::string images;
    // A table of ids. If this and `images` are empty, it is data.path/test.csv, if that file
    // exists. Without a table, all volumes of the folder are predicted.
    std::string csv;
    std::string submission;  // name of an archive, for example "submission.zip"
    Save save = Save::mask;
    double threshold = 0.5;
    std::int64_t min_component = 0;  // smaller components are cleared; in voxels
    // The overlap of neighbouring tiles, as a share of a tile. This option also applies to
    // evaluation.
    double overlap = 0.5;
    TileWeights weights = TileWeights::gaussian;
    std::int64_t batch = 0;  // number of tiles computed at once; 0: 1 on a CPU, 16 on a GPU
    bool flips = false;      // whether to average over flips along all axes
  } predict;

  std::array<std::int64_t, 3> patch() const;  // throws Error for an invalid option
  // Returns how often the network runs in evaluation or prediction of one volume: once for each
  // tile and flip. extents: z, y, x of the volume. Tiles are those of SlidingWindows
  // (training/evaluation/sliding_windows.h).
  double passes_over(const std::array<std::int64_t, 3>& extents) const;
  std::optional<std::array<double, 3>> spacing() const;  // throws Error if invalid
  std::optional<std::int64_t> ignore() const;
  ReadVolume read_volume(bool labels = false) const;
  std::int64_t outputs() const { return data.classes == 1 ? 1 : data.classes; }
  NetShape net(std::int64_t channels) const;
  bool made() const { return data.path.empty() && data.images.empty(); }

  void defaults(TrainOptions& train, bool has_gpu) const override;
  void check(const TrainOptions& train) const override;
  void check_labels() const;  // throws Error if data.classes and data.ignore do not fit
  std::vector<std::string> metric_names() const override;
  std::optional<BuiltIn> built_in() const override;
  bool low_precision() const override { return true; }
  PredictInput predict_input() const override;
  MemoryEstimate memory(const TrainOptions& train, const Facts& facts) const override;
  std::optional<double> flops_per_sample(const Facts& facts) const override;
  bool can_score() const override { return true; }
};

const std::vector<Preset>& presets();
std::vector<Synonym> synonyms();  // names that other programs use for these options

}  // namespace lockstep::volume

namespace lockstep {

template <>
struct EnumNames<volume::Normalize> {
  static constexpr std::pair<volume::Normalize, const char*> value[] = {
      {volume::Normalize::divide, "divide"},
      {volume::Normalize::zscore, "zscore"},
      {volume::Normalize::percentile, "percentile"},
      {volume::Normalize::ct, "ct"}};
};
template <>
struct EnumNames<volume::Save> {
  static constexpr std::pair<volume::Save, const char*> value[] = {
      {volume::Save::mask, "mask"}, {volume::Save::probabilities, "probabilities"}};
};
template <>
struct EnumNames<volume::TileWeights> {
  static constexpr std::pair<volume::TileWeights, const char*> value[] = {
      {volume::TileWeights::gaussian, "gaussian"}, {volume::TileWeights::uniform, "uniform"}};
};
template <>
struct EnumNames<volume::ToleranceUnit> {
  static constexpr std::pair<volume::ToleranceUnit, const char*> value[] = {
      {volume::ToleranceUnit::voxels, "voxels"}, {volume::ToleranceUnit::mm, "mm"}};
};

}  // namespace lockstep
