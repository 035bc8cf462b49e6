#include "recipes/fewshot/episodes/episodes.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/base/text/text.h"
#include "planning/order/order.h"
#include "tests/fakes/error_of.h"

namespace lockstep::fewshot {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Pictures with the classes that each shows; a class may come twice. -1 - c: a crowd of class c.
DetectionData set_of(const std::vector<std::vector<int>>& pictures, int categories) {
  DetectionData data{.name = "set"};
  for (int i = 0; i < categories; ++i) data.categories.push_back({.id = i, .name = cat("c", i)});
  for (const std::vector<int>& shown : pictures) {
    for (const int category : shown)
      data.boxes.push_back({.picture = static_cast<int>(data.pictures.size()),
                            .category = category < 0 ? -1 - category : category,
                            .w = 1,
                            .h = 1,
                            .crowd = category < 0});
    data.pictures.push_back({.id = static_cast<std::int64_t>(data.pictures.size())});
  }
  index_boxes(data);
  return data;
}

// Picture i shows the classes i mod categories and (i / 3) mod categories.
DetectionData many(int pictures, int categories) {
  std::vector<std::vector<int>> shown;
  for (int i = 0; i < pictures; ++i)
    shown.push_back({i % categories, i / 3 % categories, i % categories});
  return set_of(shown, categories);
}

std::vector<int> all_of(const DetectionData& data) {
  std::vector<int> classes;
  for (int i = 0; i < static_cast<int>(data.categories.size()); ++i) classes.push_back(i);
  return classes;
}

Episodes training(const DetectionData& data, const EpisodeShape& shape, std::uint64_t seed = 1) {
  return Episodes(ClassPictures(data), data.categories, all_of(data), shape, seed);
}
Episodes evaluation(const DetectionData& supports, const DetectionData& queries,
                    const EpisodeShape& shape, std::uint64_t seed = 1) {
  return Episodes(ClassPictures(supports), ClassPictures(queries), supports.categories,
                  all_of(supports), shape, seed);
}

template <class Value>
bool differ(std::vector<Value> values) {
  std::sort(values.begin(), values.end());
  return std::adjacent_find(values.begin(), values.end()) == values.end();
}
std::vector<int> pictures_of(const std::vector<Support>& supports) {
  std::vector<int> pictures;
  for (const Support& one : supports) pictures.push_back(one.picture);
  return pictures;
}

// What must hold of an episode of one set, but for sharing.
void check(const Episode& episode, const EpisodeShape& shape, const DetectionData& data) {
  const ClassPictures shows(data);
  const auto shots = static_cast<std::size_t>(shape.k_shot);
  EXPECT_TRUE(differ(episode.classes));
  ASSERT_EQ(episode.supports.size(), episode.classes.size() * shots);
  for (std::size_t i = 0; i < episode.supports.size(); ++i) {
    const Box& box = data.boxes[static_cast<std::size_t>(episode.supports[i].box)];
    EXPECT_EQ(box.category, episode.classes[i / shots]);
    EXPECT_EQ(box.picture, episode.supports[i].picture);
    EXPECT_TRUE(box.counts());
    EXPECT_THAT(episode.queries, ::testing::Not(::testing::Contains(box.picture)));
  }
  for (std::size_t label = 0; label < episode.classes.size(); ++label) {
    const auto own = episode.supports.begin() + static_cast<std::ptrdiff_t>(label * shots);
    EXPECT_TRUE(differ(pictures_of({own, own + shape.k_shot})));
  }
  EXPECT_FALSE(episode.queries.empty());
  EXPECT_LE(episode.queries.size(), static_cast<std::size_t>(shape.queries));
  EXPECT_TRUE(differ(episode.queries));
  for (const int picture : episode.queries) {
    const auto shown = shows.shown_in(picture);
    EXPECT_TRUE(std::any_of(shown.begin(), shown.end(),
                            [&](int category) { return episode.label_of(category) >= 0; }));
  }
}

TEST(ClassPictures, CrowdsAndDifficultBoxesShowNothing) {
  DetectionData data = set_of({{0, 1, 0}, {-1, 1}, {}, {0}}, 3);
  data.boxes.back().difficult = true;
  const ClassPictures shows(data);
  EXPECT_EQ(shows.categories(), 3);
  EXPECT_EQ(shows.pictures(), 4);
  EXPECT_THAT(shows.of(0), ElementsAre(0));
  EXPECT_THAT(shows.boxes(0, 0), ElementsAre(0, 2));
  EXPECT_THAT(shows.of(1), ElementsAre(0, 1));
  EXPECT_THAT(shows.boxes(1, 1), ElementsAre(4));
  EXPECT_THAT(shows.of(2), IsEmpty());
  EXPECT_THAT(shows.shown_in(0), ElementsAre(0, 1));
  EXPECT_THAT(shows.shown_in(2), IsEmpty());
}

TEST(Episodes, SupportsShowTheirClassAndAreNoQueries) {
  const DetectionData data = many(200, 12);
  const EpisodeShape shape{.n_way = 5, .k_shot = 3, .queries = 10};
  const Episodes episodes = training(data, shape);
  for (int place = 0; place < 200; ++place) {
    const Episode episode = episodes.at(0, place);
    check(episode, shape, data);
    EXPECT_THAT(episode.classes, SizeIs(5));
    EXPECT_THAT(episode.queries, SizeIs(10));
    EXPECT_TRUE(differ(pictures_of(episode.supports)));  // there are pictures enough
  }
}

// A rank asks for the rows that the engine gives it; all together they must be the same.
TEST(Episodes, AreTheSameOnAnyNumberOfRanks) {
  const DetectionData data = many(100, 8);
  const Episodes one = training(data, {.n_way = 3, .k_shot = 2, .queries = 4});
  constexpr int global = 8;
  std::vector<Episode> expected;
  for (int place = 0; place < 3 * global; ++place) expected.push_back(one.at(1, place));
  const SampleAt order = permuted_order(0, 3 * global, 3 * global, /*shuffle=*/false);
  for (const int ranks : {1, 2, 4, 8}) {
    const BatchPlan batch{.world_size = ranks, .micro = 1, .accumulation = global / ranks};
    for (int rank = ranks - 1; rank >= 0; --rank) {  // in another order, each with its own object
      const Episodes own = training(data, {.n_way = 3, .k_shot = 2, .queries = 4});
      const EpochSteps steps{.size = 3 * global, .global = global};
      for (int step = 2; step >= 0; --step)
        for (int micro = 0; micro < global / ranks; ++micro) {
          const std::int64_t row = first_global_row(batch, rank, micro);
          const std::int64_t place = steps.row_at(order, step, row).sample;
          EXPECT_EQ(own.at(1, place), expected[static_cast<std::size_t>(place)]);
          EXPECT_EQ(place, step * global + row);
        }
    }
  }
}

TEST(Episodes, DifferByPlaceEpochAndSeed) {
  const DetectionData data = many(100, 8);
  const EpisodeShape shape{.n_way = 3, .k_shot = 2, .queries = 4};
  const Episodes episodes = training(data, shape);
  EXPECT_NE(episodes.at(0, 0), episodes.at(0, 1));
  EXPECT_NE(episodes.at(0, 1), episodes.at(1, 0));
  EXPECT_NE(episodes.at(0, 0), training(data, shape, 2).at(0, 0));
}

TEST(Episodes, ClassesPicturesAndBoxesComeEquallyOften) {
  const DetectionData data = many(60, 6);
  const EpisodeShape shape{.n_way = 3, .k_shot = 2, .queries = 6};
  const Episodes episodes = training(data, shape);
  constexpr int draws = 4000;
  std::map<int, int> classes, first_class, boxes, queries;
  for (int place = 0; place < draws; ++place) {
    const Episode episode = episodes.at(0, place);
    for (const int one : episode.classes) ++classes[one];
    ++first_class[episode.classes[0]];
    for (std::size_t i = 0; i < episode.supports.size(); ++i)
      if (episode.classes[i / 2] == 0) ++boxes[episode.supports[i].box];
    for (const int one : episode.queries) ++queries[one];
  }
  for (int category = 0; category < 6; ++category) {
    EXPECT_NEAR(classes[category], draws / 2, 5 * 32) << category;  // 5 deviations
    EXPECT_NEAR(first_class[category], draws / 6, 5 * 24) << category;
  }
  // Of class 0, each picture as often, and of one with two or three boxes each box.
  const ClassPictures shows(data);
  const double of_each = draws / 2.0 * 2 / static_cast<double>(shows.of(0).size());
  for (std::size_t i = 0; i < shows.of(0).size(); ++i) {
    int sum = 0;
    for (const int box : shows.boxes(0, i)) {
      sum += boxes[box];
      EXPECT_NEAR(boxes[box], of_each / static_cast<double>(shows.boxes(0, i).size()),
                  0.25 * of_each);
    }
    EXPECT_NEAR(sum, of_each, 0.3 * of_each);
  }
  EXPECT_THAT(queries, SizeIs(60));
}

TEST(Episodes, QueriesTakeTurnsOverTheClasses) {
  // Class 0 is in 100 pictures, the others in 4.
  std::vector<std::vector<int>> shown(100, {0});
  for (int category = 1; category < 4; ++category)
    for (int i = 0; i < 4; ++i) shown.push_back({category});
  const DetectionData data = set_of(shown, 4);
  const Episodes episodes = training(data, {.n_way = 4, .k_shot = 2, .queries = 4});
  const ClassPictures shows(data);
  for (int place = 0; place < 50; ++place) {
    const Episode episode = episodes.at(0, place);
    ASSERT_THAT(episode.queries, SizeIs(4));
    for (std::size_t i = 0; i < 4; ++i)
      EXPECT_THAT(shows.shown_in(episode.queries[i]), ElementsAre(episode.classes[i]));
  }
}

TEST(Episodes, ScarcePicturesAreSharedByClassesAndFewerQueriesAreDrawn) {
  // Five pictures that all show all of three classes: 3 shots leave 2 queries.
  const DetectionData data = set_of(std::vector<std::vector<int>>(5, {0, 1, 2}), 3);
  const EpisodeShape shape{.n_way = 3, .k_shot = 3, .queries = 10};
  const Episodes episodes = training(data, shape);
  std::set<int> seen;
  for (int place = 0; place < 100; ++place) {
    const Episode episode = episodes.at(0, place);
    check(episode, shape, data);
    EXPECT_THAT(episode.queries, SizeIs(2));
    seen.insert(episode.queries.begin(), episode.queries.end());
  }
  EXPECT_THAT(seen, SizeIs(5));
}

TEST(Episodes, AClassNeedsAPictureMoreThanShotsAndIsLeftOutElse) {
  const DetectionData data = set_of({{0, 1}, {0, 1}, {0, 1, 2}, {0, 2, -4}}, 4);
  const Episodes episodes = training(data, {.k_shot = 2, .queries = 1});
  EXPECT_THAT(episodes.classes(), ElementsAre(0, 1));
  EXPECT_EQ(episodes.shape().n_way, 2);
  ASSERT_THAT(episodes.left_out(), SizeIs(2));
  EXPECT_EQ(episodes.note(),
            "2 classes are left out for lack of pictures (3 needed): c2 (2 pictures), c3 (0 "
            "pictures)");
  for (int place = 0; place < 20; ++place) check(episodes.at(0, place), episodes.shape(), data);
  EXPECT_EQ(training(many(100, 4), {}).note(), "");
}

TEST(Episodes, FiveClassesUnlessThereAreFewer) {
  EXPECT_EQ(training(many(100, 8), {}).shape().n_way, 5);
  EXPECT_EQ(training(many(100, 4), {}).shape().n_way, 4);
}

TEST(Episodes, MoreClassesThanThereAreIsAnError) {
  const DetectionData data = set_of({{0, 1}, {0, 1}, {0, 1, 2}, {0, 2}}, 3);
  const Error error = thrown_by([&] { training(data, {.n_way = 3, .k_shot = 2, .queries = 1}); });
  EXPECT_STREQ(error.what(),
               "episodes of 3 classes with 2 shots need as many classes, but there are 2; 1 class "
               "is left out for lack of pictures (3 needed): c2 (2 pictures)");
  EXPECT_EQ(error.hint(), "set episode.n_way to at most 2, or lower episode.k_shot");
  EXPECT_THAT(thrown_by([&] { training(data, {.k_shot = 9}); }).hint(),
              HasSubstr("lower episode.k_shot"));
  for (const EpisodeShape& shape :
       {EpisodeShape{.n_way = -1}, EpisodeShape{.k_shot = 0}, EpisodeShape{.queries = 0}})
    EXPECT_THAT(thrown_by([&] { training(data, shape); }).what(), HasSubstr("at least 1"));
}

TEST(Episodes, InEvaluationSupportsAndQueriesAreOfTwoSets) {
  const DetectionData supports = set_of({{0}, {0}, {1, 1}, {1}, {2}, {2}, {3}}, 4);
  const DetectionData queries = set_of({{0, 3}, {1}, {1, 0}, {3}, {}}, 4);
  const Episodes episodes = evaluation(supports, queries, {.n_way = 2, .k_shot = 2, .queries = 3});
  EXPECT_THAT(episodes.classes(), ElementsAre(0, 1));
  EXPECT_THAT(episodes.note(), HasSubstr("c2 (none to find it in), c3 (1 picture)"));
  for (int place = 0; place < 20; ++place) {
    const Episode episode = episodes.at(0, place);
    EXPECT_THAT(episode.queries, ::testing::UnorderedElementsAre(0, 1, 2));
    for (std::size_t i = 0; i < 4; ++i)
      EXPECT_EQ(supports.boxes[static_cast<std::size_t>(episode.supports[i].box)].category,
                episode.classes[i / 2]);
  }
}

TEST(Episodes, AllPicturesOfAQuerySetMayBeAskedFor) {
  const DetectionData queries = set_of({{0}, {1}, {}}, 2);
  const Episodes episodes =
      evaluation(many(20, 2), queries, {.n_way = 1, .k_shot = 1, .queries = 0});
  EXPECT_THAT(episodes.at(0, 0).queries, ElementsAre(0, 1, 2));
}

TEST(Episodes, InEvaluationFewerShotsAreAPartOfMore) {
  const DetectionData supports = many(120, 6), queries = many(40, 6);
  for (int shots = 1; shots < 5; ++shots) {
    const Episodes fewer = evaluation(supports, queries, {.k_shot = shots}),
                   more = evaluation(supports, queries, {.k_shot = shots + 1});
    for (int place = 0; place < 30; ++place) {
      const Episode a = fewer.at(0, place), b = more.at(0, place);
      EXPECT_EQ(a.classes, b.classes);
      EXPECT_EQ(a.queries, b.queries);
      for (std::size_t label = 0; label < a.classes.size(); ++label)
        for (std::size_t shot = 0; shot < static_cast<std::size_t>(shots); ++shot)
          EXPECT_EQ(a.supports[label * static_cast<std::size_t>(shots) + shot],
                    b.supports[label * static_cast<std::size_t>(shots + 1) + shot]);
    }
  }
}

TEST(Episodes, OnlyTheClassesOfTheSplitAreDrawn) {
  const DetectionData data = many(100, 8);
  const Episodes episodes(ClassPictures(data), data.categories, {7, 2, 3}, {.n_way = 2}, 1);
  std::set<int> seen;
  for (int place = 0; place < 50; ++place)
    for (const int one : episodes.at(0, place).classes) seen.insert(one);
  EXPECT_THAT(seen, ElementsAre(2, 3, 7));
}

}  // namespace
}  // namespace lockstep::fewshot
