// All options of the fewshot recipe, and values that depend only on the options.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "planning/options/prepared_options.h"
#include "recipes/fewshot/annotations/detection_data.h"

namespace lockstep::fewshot {

enum class ClassUse { base, novel, all };

// The sizes of the detector (model/net.h).
struct DetectorShape {
  std::int64_t depth = 50;       // layers of the ResNet: 18, 34, 50 or 101
  std::int64_t width = 64;       // channels of the ResNet's first stage
  std::int64_t neck = 256;       // channels of the feature maps
  std::int64_t hidden = 1024;    // width of the head for regions
  std::int64_t embedding = 512;  // size of the vectors of regions and classes
  std::vector<double> anchor_sizes{16, 32, 64, 128, 256};  // square roots of areas
  std::vector<double> anchor_ratios{0.5, 1, 2};            // height over width

  std::int64_t anchors_per_cell() const {
    return static_cast<std::int64_t>(anchor_sizes.size() * anchor_ratios.size());
  }
  std::int64_t trunk_channels() const { return (depth < 50 ? 4 : 16) * width; }
};
std::int64_t parameter_count(const DetectorShape& shape);

struct FewshotOptions : PreparedOptions<FewshotOptions> {
  FewshotOptions();  // fills `table`

  struct {
    std::string path;                            // empty: generated shapes
    std::string train, valid;                    // annotation files; empty: found in `path`
    std::string train_pictures, valid_pictures;  // folders; empty: beside the annotations
    ExifFrame exif = ExifFrame::automatic;       // orientation to which boxes refer
    double valid_share = 0.2;              // share of the pictures, if no validation set is found
    std::vector<std::string> base, novel;  // class names, or "@FILE" with one per line
    // share of the classes that are novel, if neither base nor novel classes are named
    double novel_share = 0.3;
    std::int64_t split_seed = 1;        // seed of all random choices about the sets
    ClassUse classes = ClassUse::base;  // the classes that training draws
    std::int64_t shots = 0;             // boxes per class that training uses; 0: all
    double cache_gb = 2;                // memory for decoded pictures, per device
  } data;
  struct {
    std::int64_t n_way = 0;  // classes of an episode; 0: five, or all if there are fewer
    std::int64_t k_shot = 3, queries = 10;
    std::int64_t size = 320;        // edge of a query, in pixels
    std::int64_t support_size = 0;  // edge of a support, in pixels; 0: size
    std::int64_t context = 16;      // pixels around the box of a support, on each side
  } episode;
  struct {
    std::int64_t depth = 50, width = 64, neck = 256, hidden = 1024, embedding = 512;
    std::vector<std::string> anchor_sizes{"16", "32", "64", "128", "256"};
    std::vector<std::string> anchor_ratios{"0.5", "1", "2"};
    std::int64_t regions = 64;  // proposals per training query, in addition to the true boxes
  } model;
  struct {
    bool flip = true;
    double brightness = 0.2, contrast = 0.2;
  } augment;
  struct Loss {
    double proposals = 1, proposal_boxes = 1, classes = 1, boxes = 1;  // factors of the loss terms
  } loss;
  struct {
    std::int64_t episodes = 1000;
  } stop;
  struct {
    // for base and for novel classes, for each value of `shots`
    std::int64_t episodes = 20;
    std::vector<std::string> shots;  // numbers of supports per class; empty: episode.k_shot
    std::int64_t queries = 0;        // per episode; 0: episode.queries
  } evaluate;
  struct {
    std::string truth;  // the ground truth of `lockstep score`; empty: see score_files
  } scoring;            // score.*
  struct {
    std::vector<std::string> images;  // files and folders, if the command names no INPUT
    std::string supports;             // table of supports (read_supports)
    // folder of the files that the table names; empty: the table's folder
    std::string supports_of;
    std::int64_t regions = 300;  // proposals per picture
    double score = 0.05;         // boxes with a lower score are left out
    double nms = 0.5;            // above this IoU, the less likely box of a class is removed
    std::int64_t boxes = 100;    // largest number of boxes per picture
    double shown = 0.3;          // boxes with a lower score are not drawn
  } predict;

  DetectorShape detector() const;  // throws Error for invalid anchors
  // evaluate.shots, ascending; throws Error if one is invalid
  std::vector<std::int64_t> shots() const;
  std::int64_t support_size() const {
    return episode.support_size == 0 ? episode.size : episode.support_size;
  }
  std::string smaller_episode() const;  // a hint how to save memory; may be empty
  // Returns the cost of an evaluation episode with `shots` supports per class, and as many classes
  // as a training episode. The unit is the cost of the forward pass of a training episode.
  double passes_of_evaluation(std::int64_t shots) const;
  bool made() const { return data.path.empty() && data.train.empty(); }

  void defaults(TrainOptions& train, bool has_gpu) const override;
  void check(const TrainOptions& train) const override;
  std::vector<std::string> metric_names() const override;
  std::optional<BuiltIn> built_in() const override;
  bool low_precision() const override { return true; }
  PredictInput predict_input() const override;
  std::vector<PredictItem> items(const ItemQuery& query) const override;
  MemoryEstimate memory(const TrainOptions& train, const Facts& facts) const override;
  std::optional<double> flops_per_sample(const Facts& facts) const override;
  bool can_score() const override { return true; }
};

// Returns the paths of at most 20 validation pictures, which are predicted if the user names no
// pictures. They come from the run's validation set. If there is no run yet, or if the run is an
// export, they come from the options data.*. The pointer is set in programs that link the target
// fewshot-prepare; elsewhere, it is null. Throws Error if the validation set cannot be found or
// read.
using FindPictures = std::vector<std::string> (*)(const FewshotOptions& options,
                                                  const ItemQuery& query);
extern FindPictures validation_pictures;

const std::vector<Preset>& presets();
std::vector<Synonym> synonyms();  // other programs' names for these options

}  // namespace lockstep::fewshot

namespace lockstep {

template <>
struct EnumNames<fewshot::ExifFrame> {
  static constexpr std::pair<fewshot::ExifFrame, const char*> value[] = {
      {fewshot::ExifFrame::automatic, "auto"},
      {fewshot::ExifFrame::stored, "stored"},
      {fewshot::ExifFrame::turned, "turned"}};
};
template <>
struct EnumNames<fewshot::ClassUse> {
  static constexpr std::pair<fewshot::ClassUse, const char*> value[] = {
      {fewshot::ClassUse::base, "base"},
      {fewshot::ClassUse::novel, "novel"},
      {fewshot::ClassUse::all, "all"}};
};

}  // namespace lockstep
