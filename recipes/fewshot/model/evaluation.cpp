// Evaluates episodes: collects the detections and computes their scores.
#include "core/base/text/text.h"
#include "core/media/pictures/picture_file.h"
#include "recipes/fewshot/metrics/detection_charts.h"
#include "recipes/fewshot/model/found_boxes.h"
#include "recipes/fewshot/model/recipe.h"
#include "recipes/fewshot/pictures/open_picture.h"

#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace lockstep::fewshot {
std::vector<at::Tensor> FewshotRecipe::evaluate_items(Model& model, const Batch& batch,
                                                      StepContext& context) {
  DetectorImpl& net = dynamic_cast<NnModel<DetectorImpl>&>(model).module();
  const at::Tensor where = batch.tensors.at(3).cpu(), weight = batch.row_weight.cpu();
  std::vector<at::Tensor> records;
  for (std::int64_t row = 0; row < batch.size(); ++row) {
    if (weight[row].item<float>() == 0) {
      records.push_back(at::zeros({0}, at::kDouble));
      continue;
    }
    const auto group = where[row][0].item<std::int64_t>(),
               number = where[row][1].item<std::int64_t>();
    const Episode episode = groups_.at(static_cast<std::size_t>(group)).episodes.at(0, number);
    const ClassCodes codes = codes_of(net, batch.tensors[EpisodeFields::supports][row],
                                      batch.tensors[EpisodeFields::support_boxes][row],
                                      std::ssize(episode.classes), context);
    const at::Tensor found =
        detect(net, batch.tensors[EpisodeFields::queries][row], codes, context).to(at::kDouble);
    for (std::int64_t i = 0; i < found.size(0); ++i) {
      const auto query = static_cast<std::size_t>(found[i][of_query].item<double>());
      const Picture& picture =
          source_->sets().valid.pictures[static_cast<std::size_t>(episode.queries[query])];
      scale_to_picture(found[i], picture.width, picture.height, source_->size());
    }
    if (context.output != nullptr && number < 4)
      context.output->picture(
          cat(groups_[static_cast<std::size_t>(group)].name, "-",
              groups_[static_cast<std::size_t>(group)].shots, "-shot-", number + 1),
          "jpg", [&] { return episode_picture(episode, found); });
    records.push_back(found.flatten());
  }
  return records;
}

std::vector<NamedClass> FewshotRecipe::named_classes() const {
  const Sets& sets = source_->sets();
  std::vector<NamedClass> named;
  for (std::size_t c = 0; c < sets.train.categories.size(); ++c)
    named.push_back({.category = sets.train.categories[c].id,
                     .name = sets.train.categories[c].name,
                     .novel = std::binary_search(sets.split.novel.begin(), sets.split.novel.end(),
                                                 static_cast<int>(c))});
  return named;
}

// Draws the support set and the first query.
std::string FewshotRecipe::episode_picture(const Episode& episode, const at::Tensor& found) const {
  const Sets& sets = source_->sets();
  const std::vector<NamedClass> classes = named_classes();
  const int number = episode.queries.front();
  const Picture& picture = sets.valid.pictures[static_cast<std::size_t>(number)];
  std::vector<TrueBox> truths;
  for (const Box& box : sets.valid.boxes_of(number))
    if (episode.label_of(box.category) >= 0) truths.push_back(true_box(sets.valid, box));
  std::vector<Detection> shown;
  for (std::int64_t i = 0; i < found.size(0); ++i) {
    if (found[i][of_query].item<double>() != 0 ||
        found[i][of_score].item<double>() < options_.predict.shown)
      continue;
    const int category =
        episode.classes[static_cast<std::size_t>(found[i][of_label].item<double>())];
    shown.push_back(detection_of(found[i], picture.id,
                                 sets.train.categories[static_cast<std::size_t>(category)].id));
  }
  const Image drawn =
      draw_detections(open_picture(picture), shown,
                      {.classes = classes, .truths = std::span<const TrueBox>(truths)});
  std::vector<SupportCrops> crops;
  const std::size_t shots = episode.supports.size() / episode.classes.size();
  for (std::size_t c = 0; c < episode.classes.size(); ++c) {
    SupportCrops of_class{
        .category = sets.train.categories[static_cast<std::size_t>(episode.classes[c])].id,
        .crops = {}};
    for (std::size_t k = 0; k < shots; ++k)
      of_class.crops.push_back(*source_->support(episode.supports[c * shots + k]).image);
    crops.push_back(std::move(of_class));
  }
  return encode_jpeg(support_sheet(crops, drawn, {.classes = classes}));
}

std::vector<ScoredEpisode> FewshotRecipe::scored(const Records& records, std::size_t group) const {
  const Sets& sets = source_->sets();
  std::vector<ScoredEpisode> all;
  const std::int64_t first = static_cast<std::int64_t>(group) * options_.evaluate.episodes;
  for (std::int64_t number = 0; number < options_.evaluate.episodes; ++number) {
    if (first + number >= records.size()) break;
    const Episode episode = groups_[group].episodes.at(0, number);
    ScoredEpisode one;
    for (const int category : episode.classes)
      one.categories.push_back(sets.train.categories[static_cast<std::size_t>(category)].id);
    for (const int query : episode.queries)
      for (const Box& box : sets.valid.boxes_of(query))
        if (episode.label_of(box.category) >= 0) one.truths.push_back(true_box(sets.valid, box));
    const at::Tensor found = records[first + number].view({-1, columns});
    for (std::int64_t i = 0; i < found.size(0); ++i) {
      const auto query = static_cast<std::size_t>(found[i][of_query].item<double>()),
                 label = static_cast<std::size_t>(found[i][of_label].item<double>());
      const int picture = episode.queries.at(query);
      one.detections.push_back(
          detection_of(found[i], sets.valid.pictures[static_cast<std::size_t>(picture)].id,
                       one.categories.at(label)));
    }
    all.push_back(std::move(one));
  }
  return all;
}

EpisodeScores FewshotRecipe::scores(const Records& records, std::size_t group) const {
  std::vector<std::int64_t> novel;
  for (const NamedClass& one : named_classes())
    if (one.novel) novel.push_back(one.category);
  return score_episodes(scored(records, group), novel);
}

std::string FewshotRecipe::group_title(std::size_t group) const {
  const EvaluationGroup& of = groups_[group];
  const bool first = of.shots == options_.shots().front();
  return first ? of.name : cat(of.name, "_", of.shots, "shot");
}

// The number of groups that have records. A check evaluates only the first few samples.
std::size_t FewshotRecipe::groups_in(const Records& records) const {
  const std::int64_t each = options_.evaluate.episodes;
  return std::min(groups_.size(), static_cast<std::size_t>((records.size() + each - 1) / each));
}

std::vector<Metric> FewshotRecipe::metrics(const Records& records) const {
  std::vector<Metric> all;
  for (std::size_t group = 0; group < groups_in(records); ++group) {
    const EpisodeMean mean = scores(records, group).all.mean;
    const auto add = [&](const std::string& name, double value) {
      all.push_back({.name = cat(name, "_", group_title(group)),
                     .value = value,
                     .unit = "",
                     .lower_is_better = false});
    };
    add("AP50", mean.ap50.estimate);
    add("AP", mean.ap.estimate);
    add("AP75", mean.ap75.estimate);
    if (mean.episodes == 1) continue;  // one episode gives no interval
    add("AP50_low", mean.ap50.low);
    add("AP50_high", mean.ap50.high);
  }
  return all;
}

// Novel classes come first in reports, because they are the purpose of the recipe. Metrics keep
// their order, because the first one chooses checkpoints.
std::vector<std::size_t> FewshotRecipe::novel_groups_first(const Records& records) const {
  std::vector<std::size_t> order(groups_in(records));
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_partition(order.begin(), order.end(),
                        [&](std::size_t group) { return groups_[group].name == "novel"; });
  return order;
}

ItemTable FewshotRecipe::items(const Records& records, EvaluationOutput& output) const {
  ItemTable table{.columns = {"classes", "shots", "episode", "names", "AP50", "AP", "AP75"},
                  .rows = {}};
  ItemTable by_class{.columns = {"classes", "shots", "class", "episodes", "AP50", "AP50_low",
                                 "AP50_high", "AP", "AP75"},
                     .rows = {}};
  const std::vector<NamedClass> classes = named_classes();
  const auto cell = [](double value) {
    return value == no_score || std::isnan(value) ? Cell{} : Cell{value};
  };
  for (const std::size_t group : novel_groups_first(records)) {
    const EvaluationGroup& of = groups_[group];
    const EpisodeScores found = scores(records, group);
    for (std::size_t number = 0; number < found.episodes.size(); ++number) {
      std::vector<std::string> names;
      for (const int category : of.episodes.at(0, static_cast<std::int64_t>(number)).classes)
        names.push_back(source_->sets().train.categories[static_cast<std::size_t>(category)].name);
      const DetectionSummary& one = found.episodes[number];
      table.rows.push_back({of.name, of.shots, static_cast<std::int64_t>(number) + 1,
                            join(names, " "), cell(one.ap50), cell(one.ap), cell(one.ap75)});
    }
    for (const ClassScores& one : found.classes)
      by_class.rows.push_back({of.name, of.shots, class_name(classes, one.category),
                               static_cast<std::int64_t>(one.mean.episodes),
                               cell(one.mean.ap50.estimate), cell(one.mean.ap50.low),
                               cell(one.mean.ap50.high), cell(one.mean.ap.estimate),
                               cell(one.mean.ap75.estimate)});
    output.picture(cat("precision-recall-", group_title(group)), "svg",
                   pr_chart(found.pooled, classes));
    output.picture(cat("classes-", group_title(group)), "svg", class_chart(found, classes));
  }
  output.table("classes", by_class);
  return table;
}

}  // namespace lockstep::fewshot
