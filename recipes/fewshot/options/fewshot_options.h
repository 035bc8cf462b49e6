// All options of the fewshot recipe, and values that follow from the options alone.
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
  std::int64_t depth = 50;                                 // of the ResNet: 18, 34, 50 or 101
  std::int64_t width = 64;                                 // channels of its first stage
  std::int64_t neck = 256;                                 // channels of feature maps
  std::int64_t hidden = 1024;                              // of a region's head
  std::int64_t embedding = 512;                            // numbers by which regions are compared
  std::vector<double> anchor_sizes{16, 32, 64, 128, 256};  // pixels
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
    std::string train, valid;                    // annotations; empty: found in `path`
    std::string train_pictures, valid_pictures;  // folders; empty: found beside the annotations
    ExifFrame exif = ExifFrame::automatic;       // the frame of the boxes
    double valid_share = 0.2;                    // of the pictures, if no validation set is found
    std::vector<std::string> base, novel;        // names, or "@FILE"
    // of the classes, if neither base nor novel classes are named
    double novel_share = 0.3;
    std::int64_t split_seed = 1;        // for all random choices about the data
    ClassUse classes = ClassUse::base;  // the classes that training draws
    std::int64_t shots = 0;             // boxes of each class that training uses; 0: all
    double cache_gb = 2;                // for decoded pictures in memory, per device
  } data;
  struct {
    std::int64_t n_way = 0;  // 0: five, or all if there are fewer
    std::int64_t k_shot = 3, queries = 10;
    std::int64_t size = 320;        // of a query, pixels
    std::int64_t support_size = 0;  // 0: size
    std::int64_t context = 16;      // pixels around the box of a support
  } episode;
  struct {
    std::int64_t depth = 50, width = 64, neck = 256, hidden = 1024, embedding = 512;
    std::vector<std::string> anchor_sizes{"16", "32", "64", "128", "256"};
    std::vector<std::string> anchor_ratios{"0.5", "1", "2"};
    std::int64_t regions = 64;  // per query in training, besides the true boxes
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
    std::int64_t episodes = 20;      // for each number of shots, of base and of novel classes each
    std::vector<std::string> shots;  // empty: episode.k_shot
    std::int64_t queries = 0;        // per episode; 0: episode.queries
  } evaluate;
  struct {
    std::string truth;  // for `lockstep score`; empty: the validation set of data.path
  } scoring;            // score.*
  struct {
    std::vector<std::string> images;  // files and folders, in addition to those of predict.input
    std::string supports;             // a table of examples
    // folder of the files that the table names; empty: the table's own
    std::string supports_of;
    std::int64_t regions = 300;  // per picture
    double score = 0.05;         // least score of a box
    double nms = 0.5;          // above this IoU, the less likely of two boxes of a class is removed
    std::int64_t boxes = 100;  // per picture
    double shown = 0.3;        // least score of a box that is drawn
  } predict;

  DetectorShape detector() const;           // throws Error
  std::vector<std::int64_t> shots() const;  // of evaluations; throws Error
  std::int64_t support_size() const {
    return episode.support_size == 0 ? episode.size : episode.support_size;
  }
  std::string smaller_episode() const;  // how an episode would take less memory, or ""
  // Cost of an evaluation episode with `shots` shots and as many classes as in training, in units
  // of the forward pass of a training episode.
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

// Finds paths of some validation pictures, which are predicted if the user names nothing. They come
// from the run, or from the options if there is no run yet. It is set by linking the target
// fewshot-prepare, and null elsewhere. Throws Error as preparing does.
using FindPictures = std::vector<std::string> (*)(const FewshotOptions& options,
                                                  const ItemQuery& query);
extern FindPictures validation_pictures;

const std::vector<Preset>& presets();
std::vector<Synonym> synonyms();  // what other programs call these options

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
