#include "recipes/fewshot/annotations/class_split.h"

#include <gmock/gmock.h>

#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "tests/fakes/error_of.h"

namespace lockstep::fewshot {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Each has a box, but for `empty`.
DetectionData set_of(const std::vector<std::string>& names, const std::string& empty = "") {
  DetectionData data{.name = "set", .pictures = {{.width = 9, .height = 9}}};
  for (std::size_t i = 0; i < names.size(); ++i) {
    data.categories.push_back({.id = static_cast<std::int64_t>(i), .name = names[i]});
    if (names[i] != empty) data.boxes.push_back({.category = static_cast<int>(i), .w = 1, .h = 1});
  }
  index_boxes(data);
  return data;
}

const DetectionData pieces = set_of({"king", "queen", "rook", "board", "pawn"}, "board");

TEST(ClassNames, AListOrAFile) {
  EXPECT_THAT(class_names(""), IsEmpty());
  EXPECT_THAT(class_names("king, white queen"), ElementsAre("king", "white queen"));
  const TemporaryDirectory folder;
  write_file_atomic(folder.path() / "names", "king\r\n\n a, b \n");
  EXPECT_THAT(class_names("@" + (folder.path() / "names").string()), ElementsAre("king", "a, b"));
  write_file_atomic(folder.path() / "names", "\xEF\xBB\xBFking\r\nqueen\r\n");  // Windows' editor
  EXPECT_THAT(class_names("@" + (folder.path() / "names").string()), ElementsAre("king", "queen"));
  EXPECT_THAT(thrown_by([] { class_names("a,,b"); }).what(), HasSubstr("has an empty name"));
  EXPECT_THAT(thrown_by([] { class_names("a,b,a"); }).what(), HasSubstr("names \"a\" twice"));
  write_file_atomic(folder.path() / "names", "\n");
  EXPECT_THAT(thrown_by([&] { class_names("@" + (folder.path() / "names").string()); }).what(),
              HasSubstr("names no class"));
}

TEST(SplitByNames, AnEmptyListGetsTheOthersThatHaveABox) {
  EXPECT_EQ(split_by_names(pieces, {}, {"queen"}), (ClassSplit{{0, 2, 4}, {1}}));
  EXPECT_EQ(split_by_names(pieces, {"pawn", "king"}, {}), (ClassSplit{{0, 4}, {1, 2}}));
  EXPECT_EQ(split_by_names(pieces, {}, {}), (ClassSplit{{0, 1, 2, 4}, {}}));
  EXPECT_EQ(split_by_names(pieces, {"king"}, {"rook"}), (ClassSplit{{0}, {2}}));
}

TEST(SplitByNames, AnUnknownNameGetsTheNearest) {
  const auto fault = [](const std::vector<std::string>& base,
                        const std::vector<std::string>& novel) {
    return thrown_by([&] { split_by_names(pieces, base, novel); });
  };
  const Error error = fault({"qeen"}, {});
  EXPECT_STREQ(error.what(), "there is no class \"qeen\" in set");
  EXPECT_EQ(error.hint(), "is \"queen\" meant?");
  EXPECT_EQ(fault({"elephant"}, {}).hint(), "its classes are king, queen, rook, pawn");
  EXPECT_THAT(fault({"board"}, {}).what(), HasSubstr("has no box"));
  EXPECT_THAT(fault({"king"}, {"king"}).what(), HasSubstr("is both base and novel"));
  EXPECT_THAT(fault({}, {"king", "queen", "rook", "pawn"}).what(), HasSubstr("are novel"));
}

TEST(SplitByShare, ADrawFromTheSeedAndTheNames) {
  std::vector<std::string> names;
  for (int i = 0; i < 20; ++i) names.push_back(cat("class ", i));
  const ClassSplit split = split_by_share(set_of(names), 0.25, 1);
  EXPECT_EQ(split.novel.size(), 5u);
  EXPECT_EQ(split.base.size(), 15u);
  EXPECT_TRUE(std::is_sorted(split.novel.begin(), split.novel.end()));
  EXPECT_EQ(split, split_by_share(set_of(names), 0.25, 1));
  EXPECT_NE(split, split_by_share(set_of(names), 0.25, 2));
  EXPECT_EQ(split_by_share(pieces, 0.01, 1).novel.size(), 1u);
  EXPECT_EQ(split_by_share(pieces, 0.99, 1).base.size(), 1u);
  const Error one = thrown_by([] { split_by_share(set_of({"king"}), 0.5, 1); });
  EXPECT_THAT(one.what(), HasSubstr("cannot be split"));
  EXPECT_THAT(one.hint(), HasSubstr("data.novel_share=0"));
}

}  // namespace
}  // namespace lockstep::fewshot
