#include "recipes/fewshot/shapes/made_shapes.h"

#include <gmock/gmock.h>

#include <cmath>
#include <map>
#include <set>

#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "core/media/pictures/picture_file.h"
#include "recipes/fewshot/annotations/class_split.h"
#include "recipes/fewshot/annotations/find_data.h"
#include "recipes/fewshot/shapes/outlines.h"

namespace lockstep::fewshot {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(MadeShapes, AreTheSameEachTimeAndGoOnWhereTheFirstSetEnds) {
  const MadeShapes set{.pictures = 6}, rest{.pictures = 3, .first = 3};
  const DetectionData a = describe_shapes(set), b = describe_shapes(rest);
  EXPECT_EQ(draw_shapes(set, 4), draw_shapes(set, 4));
  EXPECT_EQ(draw_shapes(set, 4), draw_shapes(rest, 1));
  EXPECT_EQ(a.pictures[4], b.pictures[1]);
  EXPECT_NE(draw_shapes(set, 0), draw_shapes(set, 1));
  EXPECT_NE(draw_shapes(set, 0), draw_shapes({.seed = 1, .pictures = 6}, 0));
}

TEST(MadeShapes, AllClassesComeAboutEquallyOftenAndBoxesLieWithin) {
  const MadeShapes set{.pictures = 400};
  const DetectionData data = describe_shapes(set);
  EXPECT_THAT(made_categories(), SizeIs(12));
  EXPECT_EQ(split_by_names(data, {}, made_novel_classes()).novel.size(), 4u);
  std::map<int, int> count;
  std::set<std::int64_t> ids;
  for (const Box& box : data.boxes) {
    ++count[box.category];
    EXPECT_TRUE(ids.insert(box.id).second);
    EXPECT_GE(box.x, 0);
    EXPECT_GE(box.y, 0);
    EXPECT_LE(box.x + box.w, set.width);
    EXPECT_LE(box.y + box.h, set.height);
    EXPECT_GT(std::min(box.w, box.h), 10);
  }
  ASSERT_THAT(count, SizeIs(12));
  const double mean = static_cast<double>(data.boxes.size()) / 12;
  EXPECT_GT(mean, 50);
  for (const auto& [category, boxes] : count)
    EXPECT_NEAR(boxes, mean, 6 * std::sqrt(mean)) << category;
}

TEST(Outlines, ReachOneFromTheirMiddleAtMost) {
  for (const Outline& outline : outlines()) {
    double farthest = 0;
    for (const std::vector<Point>& contour : outline.contours)
      for (const Point& point : contour)
        farthest = std::max(farthest, std::hypot(point.x, point.y));
    EXPECT_LE(farthest, 1) << outline.name;
    EXPECT_GE(farthest, 0.85) << outline.name;
  }
}

// The colour of a shape differs from the background by 200 of 765, so that its box can be told
// from what is around it.
TEST(MadeShapes, AShapeFillsItsBoxAndStandsOut) {
  const MadeShapes set{.pictures = 40};
  const DetectionData data = describe_shapes(set);
  for (int i = 0; i < set.pictures; ++i) {
    const Image image = draw_shapes(set, i);
    const auto value = [&](float x, float y) {
      const auto place =
          3 * static_cast<std::size_t>(static_cast<int>(y) * set.width + static_cast<int>(x));
      return std::array<int, 3>{image.u8()[place], image.u8()[place + 1], image.u8()[place + 2]};
    };
    for (const Box& box : data.boxes_of(i)) {
      if (data.categories[static_cast<std::size_t>(box.category)].name != "circle") continue;
      const auto middle = value(box.x + box.w / 2, box.y + box.h / 2);
      const auto edge = value(box.x + box.w - 3, box.y + box.h / 2);
      for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(middle[c], edge[c], 70);
    }
  }
}

TEST(MadeShapes, TheReadersReadWhatIsWritten) {
  const TemporaryDirectory folder;
  std::vector<std::string> said;
  const auto say = [&](const std::string& line) { said.push_back(line); };
  const std::filesystem::path made = made_shapes(folder.path(), say);
  EXPECT_THAT(said, ::testing::ElementsAre(HasSubstr("making 300 pictures of shapes")));
  EXPECT_EQ(made_shapes(folder.path(), say), made);
  EXPECT_THAT(said, SizeIs(1));  // it was there
  EXPECT_THAT(read_file(made / "train.json").substr(0, 200), HasSubstr("Made by lockstep"));
  const DetectionSets sets = read_detection_sets(find_detection_data(made), 0.2, 0);
  EXPECT_FALSE(sets.split_off);
  EXPECT_THAT(sets.warnings, SizeIs(0));
  EXPECT_THAT(sets.train.pictures, SizeIs(made_train_pictures));
  EXPECT_THAT(sets.valid.pictures, SizeIs(made_valid_pictures));
  const MadeShapes train{.pictures = made_train_pictures};
  EXPECT_EQ(sets.train.boxes, describe_shapes(train).boxes);
  EXPECT_EQ(sets.train.categories, made_categories());
  EXPECT_EQ(read_picture(sets.train.pictures[7].path), draw_shapes(train, 7));
}

}  // namespace
}  // namespace lockstep::fewshot
