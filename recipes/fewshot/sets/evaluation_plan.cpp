#include "recipes/fewshot/sets/evaluation_plan.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"

namespace lockstep::fewshot {
namespace {

// Episodes of an evaluation do not depend on the run's seed, so that runs can be compared.
constexpr std::uint64_t evaluation_seed = 0x65706973;

}  // namespace

EpisodeShape training_shape(const FewshotOptions& options) {
  return {.n_way = static_cast<int>(options.episode.n_way),
          .k_shot = static_cast<int>(options.episode.k_shot),
          .queries = static_cast<int>(options.episode.queries)};
}

std::vector<EvaluationGroup> evaluation_groups(const FewshotOptions& options, const Sets& sets) {
  using Kind = std::pair<std::string, const std::vector<int>*>;
  std::vector<Kind> kinds{{"base", &sets.split.base}, {"novel", &sets.split.novel}};
  if (options.data.classes == ClassUse::novel) std::swap(kinds[0], kinds[1]);
  const ClassPictures supports(sets.train), queries(sets.valid);
  std::vector<EvaluationGroup> groups;
  for (const auto& [name, classes] : kinds)
    for (const std::int64_t shots : options.shots()) {
      const auto drawable = std::count_if(classes->begin(), classes->end(), [&](int c) {
        return std::ssize(supports.of(c)) >= shots && !queries.of(c).empty();
      });
      if (drawable == 0) continue;
      EpisodeShape shape = training_shape(options);
      shape.k_shot = static_cast<int>(shots);
      if (shape.n_way > drawable) shape.n_way = static_cast<int>(drawable);
      if (options.evaluate.queries > 0) shape.queries = static_cast<int>(options.evaluate.queries);
      groups.push_back({.name = name,
                        .shots = shots,
                        .episodes = Episodes(supports, queries, sets.train.categories, *classes,
                                             shape, evaluation_seed)});
    }
  return groups;
}

TrueBox true_box(const DetectionData& data, const Box& box) {
  return {.picture = data.pictures[static_cast<std::size_t>(box.picture)].id,
          .category = data.categories[static_cast<std::size_t>(box.category)].id,
          .x = box.x,
          .y = box.y,
          .width = box.w,
          .height = box.h,
          .area = box.area,
          .crowd = box.crowd,
          .ignore = box.difficult};
}

std::vector<TrueBox> true_boxes(const DetectionData& data) {
  std::vector<TrueBox> boxes;
  for (const Box& box : data.boxes) boxes.push_back(true_box(data, box));
  return boxes;
}

}  // namespace lockstep::fewshot
