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
    ExifFrame exif = ExifFrame::automatic;       // the frame of the boxes
    double valid_share = 0.2;              // share of the pictures, if no validation set is found
    std::vector<std::string> base, novel;  // class names, or "@FILE" with one per line
    // share of the classes that are novel, if neither base nor novel classes are named
    double novel_share = 0.3;
    std::int64_t split_seed = 1;        // for all random choices about the sets
    ClassUse classes = ClassUse::base;  // the classes that training draws
    std::int64_t shots = 0;             // boxes per class that training uses; 0: all
    double cache_gb = 2;                // memory for decoded pictures, per device
  } data;
  struct {
    std::int64_t n_way = 0;  // classes of an episode; 0: five, or all if there are fewer
    std::int64_t k_shot = 3, queries = 10;
    std::int64_t size = 320;        // edge of a query, in pixels
    std::int64_t support_size = 0;  // edge of a support, in pixels; 0: size
    std::int64_t context = 16;      // pixels of a support on each side of its box
  } episode;
  struct {
    std::int64_t depth = 50, width = 64, neck = 256, hidden = 1024, embedding = 512;
    std::vector<std::string> anchor_sizes{"16", "32", "64", "128", "256"};
    std::vector<std::string> anchor_ratios{"0.5", "1", "2"};
    std::int64_t regions = 64;  // proposals per training query, besides the true boxes
  } model;
  struct {
    bool flip = true;
    double brightness = 0.2, contrast = 0.2;
  } augment;
  struct Loss {
    double proposals = 1, proposal_boxes = 1, classes = 1, boxes = 1;  // weights of the terms
  } loss;
  struct {
    std::int64_t episodes = 1000;
  } stop;
  struct {
    std::int64_t episodes = 20;      // for base and for novel classes, with each of `shots`
    std::vector<std::string> shots;  // numbers of supports; empty: episode.k_shot
    std::int64_t queries = 0;        // per episode; 0: episode.queries
  } evaluate;
  struct {
    std::string truth;  // annotations for `lockstep score`; empty: see score_files
  } scoring;            // score.*
  struct {
    std::vector<std::string> images;  // files and folders, if no INPUT is given
    std::string supports;             // table of examples
    // folder of the files that the table names; empty: the table's folder
    std::string supports_of;
    std::int64_t regions = 300;  // proposals per picture
    double score = 0.05;         // boxes with a lower score are left out
    double nms = 0.5;            // above this IoU, the less likely box of a class is removed
    std::int64_t boxes = 100;    // largest number of boxes per picture
    double shown = 0.3;          // boxes with a lower score are not drawn
  } predict;

  DetectorShape detector() const;           // throws Error
  std::vector<std::int64_t> shots() const;  // numbers of supports, ascending; throws Error
  std::int64_t support_size() const {
    return episode.support_size == 0 ? episode.size : episode.support_size;
  }
  std::string smaller_episode() const;  // options for an episode with less memory; may be empty
  // Returns the cost of an evaluation episode with `shots` shots and the number of classes of
  // training. The unit is the forward pass of a training episode.
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

// Returns the paths of at most 20 validation pictures, which are predicted if the user names none.
// They come from the run, or from the data options if there is no run yet, or if the run is an
// export. The pointer is set by linking the target fewshot-prepare, and null elsewhere. Throws
// Error as preparing does.
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
