#include "recipes/fewshot/episodes/episodes.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/text/text.h"

namespace lockstep::fewshot {
namespace {

constexpr int default_n_way = 5;

template <class Value>
bool contains(const std::vector<Value>& values, const Value& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

// Draws `count` different values in random order.
std::vector<int> draw_some(std::vector<int> values, int count, Random& random) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
    std::swap(values[i], values[i + random.below(values.size() - i)]);
  values.resize(static_cast<std::size_t>(count));
  return values;
}

// Draws the index of a value that satisfies `will_do`, all with equal chances. Nothing if none
// does. A few random tries come first, so that long lists are rarely scanned.
std::optional<std::size_t> draw_one(std::span<const int> values, Random& random,
                                    const std::function<bool(int)>& will_do) {
  constexpr int tries = 16;
  if (values.empty()) return std::nullopt;
  for (int i = 0; i < tries; ++i)
    if (const std::size_t place = random.below(values.size()); will_do(values[place])) return place;
  std::vector<std::size_t> places;
  for (std::size_t place = 0; place < values.size(); ++place)
    if (will_do(values[place])) places.push_back(place);
  if (places.empty()) return std::nullopt;
  return places[random.below(places.size())];
}

std::string pictures_text(int count) { return cat(count, count == 1 ? " picture" : " pictures"); }

void check_shape(const EpisodeShape& shape, bool one_set) {
  if (shape.n_way < 0)
    throw Error(cat("an episode needs at least 1 class, but n_way is ", shape.n_way));
  if (shape.k_shot < 1)
    throw Error(cat("an episode needs at least 1 support a class, but k_shot is ", shape.k_shot));
  if (shape.queries < (one_set ? 1 : 0))
    throw Error(cat("an episode needs at least 1 query, but queries is ", shape.queries));
}

}  // namespace

int Episode::label_of(int category) const {
  const auto found = std::find(classes.begin(), classes.end(), category);
  return found == classes.end() ? -1 : static_cast<int>(found - classes.begin());
}

Episodes::Episodes(std::shared_ptr<const ClassPictures> supports,
                   std::shared_ptr<const ClassPictures> queries, const std::vector<Category>& names,
                   const std::vector<int>& classes, const EpisodeShape& shape, std::uint64_t seed)
    : supports_(std::move(supports)),
      queries_(queries ? std::move(queries) : supports_),
      shape_(shape),
      seed_(seed) {
  check_shape(shape, one_set());
  LOCKSTEP_CHECK(static_cast<int>(names.size()) == supports_->categories() &&
                 supports_->categories() == queries_->categories());
  for (const Category& category : names) names_.push_back(printable(category.name));
  choose_classes(classes);
}

Episodes::Episodes(const ClassPictures& pictures, const std::vector<Category>& names,
                   const std::vector<int>& classes, const EpisodeShape& shape, std::uint64_t seed)
    : Episodes(std::make_shared<const ClassPictures>(pictures), nullptr, names, classes, shape,
               seed) {}

Episodes::Episodes(const ClassPictures& supports, const ClassPictures& queries,
                   const std::vector<Category>& names, const std::vector<int>& classes,
                   const EpisodeShape& shape, std::uint64_t seed)
    : Episodes(std::make_shared<const ClassPictures>(supports),
               std::make_shared<const ClassPictures>(queries), names, classes, shape, seed) {}

void Episodes::choose_classes(const std::vector<int>& classes) {
  const int needed = shape_.k_shot + (one_set() ? 1 : 0);
  for (const int category : classes) {
    const int pictures = static_cast<int>(supports_->of(category).size());
    const int query_pictures = static_cast<int>(queries_->of(category).size());
    if (pictures >= needed && query_pictures >= 1)
      classes_.push_back(category);
    else
      left_out_.push_back(
          {.category = category, .pictures = pictures, .query_pictures = query_pictures});
  }
  std::sort(classes_.begin(), classes_.end());
  const int usable = static_cast<int>(classes_.size());
  if (usable == 0 || shape_.n_way > usable)
    throw Error(cat("episodes of ", std::max(shape_.n_way, 1), " classes with ", shape_.k_shot,
                    shape_.k_shot == 1 ? " shot" : " shots", " need as many classes, but there ",
                    usable == 1 ? "is " : "are ", usable, left_out_.empty() ? "" : "; " + note()),
                usable == 0 ? "lower episode.k_shot, or add pictures"
                            : cat("set episode.n_way to at most ", usable,
                                  left_out_.empty() ? "" : ", or lower episode.k_shot"));
  if (shape_.n_way == 0) shape_.n_way = std::min(default_n_way, usable);
}

std::string Episodes::note() const {
  if (left_out_.empty()) return "";
  constexpr std::size_t most_named = 20;
  std::vector<std::string> named;
  for (const LeftOut& one : left_out_) {
    const std::string& name = names_[static_cast<std::size_t>(one.category)];
    const bool lacks_queries = !one_set() && one.pictures >= shape_.k_shot;
    if (named.size() < most_named)
      named.push_back(
          cat(name, " (", lacks_queries ? "none to find it in" : pictures_text(one.pictures), ")"));
  }
  const int needed = shape_.k_shot + (one_set() ? 1 : 0);
  return cat(left_out_.size(), left_out_.size() == 1 ? " class is" : " classes are",
             " left out for lack of pictures (", needed, " needed): ", join(named, ", "),
             left_out_.size() > named.size()
                 ? cat(" and ", left_out_.size() - named.size(), " more")
                 : "");
}

Episode Episodes::at(std::int64_t epoch, std::int64_t place) const {
  LOCKSTEP_CHECK(epoch >= 0 && place >= 0);
  Random random(seed_, RandomStream::episode, static_cast<std::uint64_t>(epoch),
                static_cast<std::uint64_t>(place));
  Episode episode;
  episode.classes = draw_some(classes_, shape_.n_way, random);
  const std::uint64_t support_seed = random.next_u64();
  episode.queries = draw_queries(episode.classes, random);
  episode.supports = draw_supports(episode.classes, episode.queries, support_seed);
  return episode;
}

std::vector<int> Episodes::draw_queries(const std::vector<int>& classes, Random& random) const {
  std::vector<int> queries;
  if (shape_.queries == 0) {
    queries.resize(static_cast<std::size_t>(queries_->pictures()));
    std::iota(queries.begin(), queries.end(), 0);
    return queries;
  }
  const std::size_t ways = classes.size();
  std::vector<int> left;  // number of pictures per class that are not queries
  for (const int category : classes)
    left.push_back(static_cast<int>(queries_->of(category).size()));
  const auto change = [&](int picture, int by) {
    bool enough = true;
    for (std::size_t label = 0; label < ways; ++label) {
      const std::span<const int> shown = queries_->shown_in(picture);
      if (!std::binary_search(shown.begin(), shown.end(), classes[label])) continue;
      left[label] += by;
      enough = enough && left[label] >= shape_.k_shot;
    }
    return enough;
  };
  const auto will_do = [&](int picture) {
    if (contains(queries, picture)) return false;
    if (!one_set()) return true;
    const bool enough = change(picture, -1);
    change(picture, +1);
    return enough;
  };
  while (queries.size() < static_cast<std::size_t>(shape_.queries)) {
    std::optional<int> picture;
    for (std::size_t i = 0; i < ways && !picture; ++i) {
      const std::span<const int> values = queries_->of(classes[(queries.size() + i) % ways]);
      if (const auto drawn = draw_one(values, random, will_do)) picture = values[*drawn];
    }
    if (!picture) break;
    change(*picture, -1);
    queries.push_back(*picture);
  }
  return queries;
}

// Draws one shot of each class before the next shot of any class. So the supports for fewer shots
// are part of those for more.
std::vector<Support> Episodes::draw_supports(const std::vector<int>& classes,
                                             const std::vector<int>& queries,
                                             std::uint64_t seed) const {
  const auto shots = static_cast<std::size_t>(shape_.k_shot);
  std::vector<Support> supports(classes.size() * shots);
  std::vector<Random> random;
  for (const int category : classes)
    random.emplace_back(seed, RandomStream::episode, static_cast<std::uint64_t>(category), 0);
  std::vector<int> used(one_set() ? queries : std::vector<int>());
  const std::size_t query_count = used.size();
  for (std::size_t shot = 0; shot < shots; ++shot)
    for (std::size_t label = 0; label < classes.size(); ++label) {
      const std::span<const int> pictures = supports_->of(classes[label]);
      const std::span<Support> own(&supports[label * shots], shot);
      auto place =
          draw_one(pictures, random[label], [&](int picture) { return !contains(used, picture); });
      if (!place)
        place = draw_one(pictures, random[label], [&](int picture) {
          return std::find(used.begin(), used.begin() + static_cast<std::ptrdiff_t>(query_count),
                           picture) == used.begin() + static_cast<std::ptrdiff_t>(query_count) &&
                 std::none_of(own.begin(), own.end(),
                              [&](const Support& one) { return one.picture == picture; });
        });
      LOCKSTEP_CHECK(place.has_value());
      const std::span<const int> boxes = supports_->boxes(classes[label], *place);
      supports[label * shots + shot] = {.picture = pictures[*place],
                                        .box = boxes[random[label].below(boxes.size())]};
      used.push_back(pictures[*place]);
    }
  return supports;
}

}  // namespace lockstep::fewshot
