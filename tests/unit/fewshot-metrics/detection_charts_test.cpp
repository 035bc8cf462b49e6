#include "recipes/fewshot/metrics/detection_charts.h"

#include <gmock/gmock.h>

namespace lockstep::fewshot {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::size_t count_text(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
  return found;
}

// Class k has a truth in picture 1 and a detection that finds it; the last class has no truth.
ScoredEpisode episode_of(std::int64_t classes) {
  ScoredEpisode episode;
  for (std::int64_t k = 1; k <= classes; ++k) {
    episode.categories.push_back(k);
    const double x = 100.0 * static_cast<double>(k);
    if (k < classes)
      episode.truths.push_back(
          {.picture = 1, .category = k, .x = x, .width = 10, .height = 10, .area = 100});
    episode.detections.push_back(
        {.picture = 1, .category = k, .x = x, .width = 10, .height = 10, .score = 0.5});
  }
  return episode;
}

DetectionResult result_with(std::int64_t classes) {
  const ScoredEpisode one = episode_of(classes);
  return evaluate_detections(one.truths, one.detections, one.categories);
}

TEST(PrChart, HasALinePerClassAndTheMean) {
  const std::vector<NamedClass> classes{{1, "rook <&>"}, {2, "king"}, {3, "queen"}};
  const std::string svg = pr_chart(result_with(3), classes);
  EXPECT_THAT(svg, HasSubstr(">1.000 mean<"));
  EXPECT_THAT(svg, HasSubstr(">1.000 rook &lt;&amp;&gt;<"));
  EXPECT_THAT(svg, HasSubstr(">1.000 king<"));
  EXPECT_THAT(svg, Not(HasSubstr("queen")));    // without ground truth
  EXPECT_EQ(count_text(svg, "<polyline"), 6u);  // three lines and their samples in the legend
  EXPECT_THAT(svg, Not(HasSubstr("base")));
}

TEST(PrChart, ManyClassesHaveSeveralPanelsBaseBeforeNovel) {
  std::vector<NamedClass> classes;
  for (std::int64_t k = 1; k <= 12; ++k)
    classes.push_back({k, "class-" + std::to_string(k), k % 5 == 0});
  const std::string svg = pr_chart(result_with(13), classes);
  EXPECT_EQ(count_text(svg, ">1.000 mean<"), 3u);  // 6 and 4 base classes, 2 novel ones
  EXPECT_EQ(count_text(svg, "AP50: base</text>"), 2u);
  EXPECT_EQ(count_text(svg, "AP50: novel</text>"), 1u);
  EXPECT_LT(svg.find("class-12"), svg.find("class-5<"));
}

TEST(PrChart, WithoutTruthItSaysSo) {
  EXPECT_THAT(pr_chart(evaluate_detections({}, {}, {}), {}), HasSubstr("no data"));
  EXPECT_THAT(pr_chart(result_with(1), {}), HasSubstr("no data"));
}

TEST(ClassChart, HasABarPerClassInTwoColours) {
  const std::vector<NamedClass> classes{{1, "rook"}, {2, "king", true}, {3, "queen"}};
  const std::vector<ScoredEpisode> episodes{episode_of(3), episode_of(3)};
  const std::vector<std::int64_t> novel{2};
  const std::string svg = class_chart(score_episodes(episodes, novel), classes);
  for (const char* text : {">rook<", ">king<", ">base classes<", ">novel classes<",
                           "rook, base: 1.000 (1.000 to 1.000), 2 episodes", "king, novel: 1.000"})
    EXPECT_THAT(svg, HasSubstr(text));
  EXPECT_THAT(svg, HasSubstr(">no ground truth<"));  // the queen
  EXPECT_EQ(count_text(svg, ", 2 episodes</title>"), 2u);
}

TEST(ClassChart, DrawsTheInterval) {
  ScoredEpisode missed = episode_of(2);
  missed.detections.clear();
  const std::vector<NamedClass> classes{{1, "rook"}, {2, "king"}};
  const std::vector<ScoredEpisode> same{episode_of(2), episode_of(2)},
      differ{episode_of(2), missed};
  EXPECT_THAT(class_chart(score_episodes(same, {}), classes), HasSubstr("(1.000 to 1.000)"));
  EXPECT_THAT(class_chart(score_episodes(differ, {}), classes),
              HasSubstr("rook, base: 0.500 (0.000 to 1.000)"));
}

}  // namespace
}  // namespace lockstep::fewshot
