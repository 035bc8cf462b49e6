#include "recipes/fewshot/model/episode_data.h"

#include "recipes/fewshot/model/regions.h"
#include "recipes/fewshot/pictures/open_picture.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace lockstep::fewshot {
namespace {

at::Tensor empty_pictures(std::int64_t count, std::int64_t size) {
  return at::empty({count, 3, size, size}, at::TensorOptions(at::kByte),
                   at::MemoryFormat::ChannelsLast);
}

void copy_picture(const Image& image, at::Tensor& pictures, std::int64_t row) {
  const auto pixels = image.u8();
  std::memcpy(
      pictures.mutable_data_ptr<std::uint8_t>() + row * static_cast<std::int64_t>(pixels.size()),
      pixels.data(), pixels.size());
}

// The bytes of the cache for one kind of pictures: training queries, evaluation queries or
// supports.
std::uint64_t share_of(double cache_gb, double share) {
  return static_cast<std::uint64_t>(cache_gb * share * 1e9);
}

// The place of the box in the picture that support_crop makes.
ViewBox box_in_crop(const Box& box, const CropShape& shape) {
  const auto size = static_cast<float>(shape.size);
  const float scale = (size - 2 * static_cast<float>(shape.context)) / std::max(box.w, box.h);
  const float left = (size - box.w * scale) / 2, top = (size - box.h * scale) / 2;
  return {.left = left, .top = top, .right = size - left, .bottom = size - top};
}

// Makes the fields `supports` and `support_boxes`.
std::vector<at::Tensor> supports_of(const EpisodeSource& source, const Episode& episode) {
  at::Tensor pictures = empty_pictures(std::ssize(episode.supports), source.crop().size);
  at::Tensor boxes = at::empty({std::ssize(episode.supports), 4});
  float* box = boxes.mutable_data_ptr<float>();
  for (std::size_t i = 0; i < episode.supports.size(); ++i) {
    const EpisodeSource::SupportView view = source.support(episode.supports[i]);
    copy_picture(*view.image, pictures, static_cast<std::int64_t>(i));
    for (const float value : {view.box.left, view.box.top, view.box.right, view.box.bottom})
      *box++ = value;
  }
  return {pictures, boxes};
}

// Makes the field `queries` with `count` pictures. If the episode has fewer, the first one is
// repeated.
at::Tensor queries_of(const EpisodeSource& source, const Episode& episode, bool of_valid,
                      std::int64_t count) {
  at::Tensor pictures = empty_pictures(count, source.size());
  for (std::int64_t q = 0; q < count; ++q) {
    const std::size_t which =
        static_cast<std::size_t>(q) < episode.queries.size() ? static_cast<std::size_t>(q) : 0;
    copy_picture(*source.query(of_valid, episode.queries[which]), pictures, q);
  }
  return pictures;
}

}  // namespace

at::Tensor to_tensor(const Image& image) {
  at::Tensor pictures = at::empty({1, 3, image.height(), image.width()},
                                  at::TensorOptions(at::kByte), at::MemoryFormat::ChannelsLast);
  copy_picture(image, pictures, 0);
  return pictures.squeeze(0);
}

EpisodeSource::EpisodeSource(Sets sets, const FewshotOptions& options)
    : sets_(std::move(sets)),
      crop_{.size = static_cast<int>(options.support_size()),
            .context = static_cast<int>(options.episode.context)},
      size_(static_cast<int>(options.episode.size)),
      train_(share_of(options.data.cache_gb, 0.5)),
      valid_(share_of(options.data.cache_gb, 0.2)),
      supports_(share_of(options.data.cache_gb, 0.3)) {}

std::shared_ptr<const Image> EpisodeSource::query(bool of_valid, int picture) const {
  const Picture& known =
      (of_valid ? sets_.valid : sets_.train).pictures[static_cast<std::size_t>(picture)];
  return (of_valid ? valid_ : train_).get({.picture = picture}, [&] {
    return whole_view(open_picture(known), size_);
  });
}

EpisodeSource::SupportView EpisodeSource::support(const Support& support) const {
  const Picture& picture = sets_.train.pictures[static_cast<std::size_t>(support.picture)];
  const Box& box = sets_.train.boxes[static_cast<std::size_t>(support.box)];
  return {.image = supports_.get(
              {.picture = support.picture, .box = support.box},
              [&] { return support_crop(open_picture(picture), picture, box, crop_).image; }),
          .box = box_in_crop(box, crop_)};
}

TrainingEpisodes::TrainingEpisodes(std::shared_ptr<const EpisodeSource> source,
                                   const FewshotOptions& options, std::int64_t boxes)
    : source_(std::move(source)),
      pictures_(source_->sets().train),
      classes_(used_classes(source_->sets().split, options.data.classes)),
      shape_(training_shape(options)),
      count_(options.stop.episodes),
      boxes_(boxes) {}

const Episodes& TrainingEpisodes::episodes(std::uint64_t seed) const {
  const std::lock_guard lock(mutex_);
  if (!episodes_ || seed_ != seed) {
    episodes_.emplace(pictures_, source_->sets().train.categories, classes_, shape_, seed);
    seed_ = seed;
    if (is_used_.empty()) {  // the classes do not depend on the seed
      is_used_.resize(source_->sets().train.categories.size());
      for (const int category : episodes_->classes())
        is_used_[static_cast<std::size_t>(category)] = true;
    }
  }
  return *episodes_;
}

std::vector<at::Tensor> TrainingEpisodes::get(std::int64_t, SampleContext& context) const {
  const DetectionData& data = source_->sets().train;
  const Episode episode = episodes(context.seed).at(context.step, context.global_row);
  std::vector<at::Tensor> fields = supports_of(*source_, episode);
  fields.push_back(queries_of(*source_, episode, /*of_valid=*/false, shape_.queries));
  at::Tensor boxes = at::zeros({shape_.queries, boxes_, 4});
  at::Tensor labels = at::full({shape_.queries, boxes_}, no_box, at::kLong);
  at::Tensor weights = at::zeros({shape_.queries});
  auto all_weights = weights.accessor<float, 1>();
  auto all_boxes = boxes.accessor<float, 3>();
  auto all_labels = labels.accessor<std::int64_t, 2>();
  for (std::int64_t q = 0; q < std::ssize(episode.queries); ++q) {
    const int number = episode.queries[static_cast<std::size_t>(q)];
    const Picture& picture = data.pictures[static_cast<std::size_t>(number)];
    all_weights[q] = 1;
    std::int64_t place = 0;
    for (const Box& box : data.boxes_of(number)) {
      const int label = episode.label_of(box.category);
      // An object is background if its class is used in training but is not part of this episode.
      const bool is_ignored = !box.counts() || !is_used_[static_cast<std::size_t>(box.category)];
      if ((label < 0 && !is_ignored) || place == boxes_) continue;
      const ViewBox view = box_in_view(picture, box, source_->size());
      const float corners[] = {view.left, view.top, view.right, view.bottom};
      for (std::int64_t i = 0; i < 4; ++i) all_boxes[q][place][i] = corners[i];
      all_labels[q][place++] = is_ignored ? ignore_box : label;
    }
  }
  fields.insert(fields.end(), {boxes, labels, weights});
  return fields;
}

std::vector<at::Tensor> EvaluationEpisodes::get(std::int64_t index, SampleContext&) const {
  const std::int64_t group = index / per_group_, number = index % per_group_;
  const Episode episode = groups_.at(static_cast<std::size_t>(group)).episodes.at(0, number);
  std::vector<at::Tensor> fields = supports_of(*source_, episode);
  fields.push_back(queries_of(*source_, episode, /*of_valid=*/true, std::ssize(episode.queries)));
  fields.push_back(at::tensor({group, number}, at::kLong));
  return fields;
}

}  // namespace lockstep::fewshot
