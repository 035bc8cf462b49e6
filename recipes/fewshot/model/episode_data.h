// Datasets whose samples are episodes (episodes/episodes.h), as tensors.
#pragma once

#include "recipes/fewshot/episodes/episodes.h"
#include "recipes/fewshot/options/fewshot_options.h"
#include "recipes/fewshot/pictures/picture_cache.h"
#include "recipes/fewshot/pictures/views.h"
#include "recipes/fewshot/sets/evaluation_plan.h"
#include "recipes/fewshot/sets/sets.h"
#include "training/data/dataset.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace lockstep::fewshot {

// The data sets of a run, and views of their pictures, which are decoded and resized for the
// network. Views are kept in memory up to data.cache_gb; other views are made again when they are
// needed. Any number of threads may use an object.
class EpisodeSource {
 public:
  EpisodeSource(Sets sets, const FewshotOptions& options);

  const Sets& sets() const { return sets_; }
  const CropShape& crop() const { return crop_; }
  int size() const { return size_; }

  // Returns the view of a query, RGB u8 [size, size, 3]. `picture` is an index into the validation
  // set if `of_valid` is true, else into the training set.
  std::shared_ptr<const Image> query(bool of_valid, int picture) const;
  struct SupportView {
    std::shared_ptr<const Image> image;
    ViewBox box;
  };
  SupportView support(const Support& support) const;

 private:
  Sets sets_;
  CropShape crop_;
  int size_;
  mutable PictureCache train_, valid_, supports_;
};

// The fields of a training sample. It is an episode of N classes with K supports each, and of Q
// queries with at most M boxes each. Supports have s x s pixels, and queries have S x S pixels.
//   0 supports: u8 [N * K, 3, s, s], channels-last; supports of label 0 come first
//   1 support_boxes: f32 [N * K, 4], the object in each support as x1, y1, x2, y2 in pixels
//   2 queries: u8 [Q, 3, S, S], channels-last
//   3 boxes: f32 [Q, M, 4] in pixels of the scaled query
//   4 labels: i64 [Q, M], as in Truth (regions.h)
//   5 weights: f32 [Q], 1 for a query; 0 if the episode has no more queries, so that `queries`
//     repeats the first one
struct EpisodeFields {
  enum : std::size_t { supports, support_boxes, queries, boxes, labels, weights };
};

// Episodes for training. Each episode depends only on the seed, the step, and the episode's index
// in the global batch.
class TrainingEpisodes : public Dataset {
 public:
  // boxes: M. An epoch has stop.episodes episodes.
  TrainingEpisodes(std::shared_ptr<const EpisodeSource> source, const FewshotOptions& options,
                   std::int64_t boxes);
  std::int64_t size() const override { return count_; }
  std::vector<at::Tensor> get(std::int64_t index, SampleContext& context) const override;

 private:
  const Episodes& episodes(std::uint64_t seed) const;

  std::shared_ptr<const EpisodeSource> source_;
  ClassPictures pictures_;
  std::vector<int> classes_;
  EpisodeShape shape_;
  std::int64_t count_, boxes_;
  mutable std::mutex mutex_;
  mutable std::optional<Episodes> episodes_;  // made with the seed seed_
  mutable std::uint64_t seed_ = 0;
  mutable std::vector<bool> is_used_;  // [categories]: whether episodes can have the category
};

// Episodes for evaluation. Sample i is episode `i % per_group` of group `i / per_group`. Its fields
// 0 to 2 are as in EpisodeFields. Field 3 is i64 [2]: the group, and the episode's number in the
// group.
class EvaluationEpisodes : public Dataset {
 public:
  EvaluationEpisodes(std::shared_ptr<const EpisodeSource> source,
                     const std::vector<EvaluationGroup>& groups, std::int64_t per_group)
      : source_(std::move(source)), groups_(groups), per_group_(per_group) {}
  std::int64_t size() const override { return std::ssize(groups_) * per_group_; }
  std::vector<at::Tensor> get(std::int64_t index, SampleContext& context) const override;

 private:
  std::shared_ptr<const EpisodeSource> source_;
  std::vector<EvaluationGroup> groups_;
  std::int64_t per_group_;
};

// Returns a copy of an RGB picture of 8 bits: u8 [3, H, W], channels-last.
at::Tensor to_tensor(const Image& image);

}  // namespace lockstep::fewshot
