// Which items predict makes of files, folders, globs and lines.
#include "plan/predict_items.h"

#include "base/error.h"
#include "base/files.h"
#include "fakes/error_of.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <fstream>

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Items : public ::testing::Test {
 protected:
  Items() {
    for (const char* name :
         {"b.png", "a.PNG", "sub/c.png", "sub/deep/a.png", ".x/d.png", "e.txt"}) {
      fs::create_directories((root / name).parent_path());
      std::ofstream(root / name) << "one\n\ntwo\r\n";
    }
  }
  std::vector<PredictItem> list(std::vector<std::string> inputs) const {
    for (std::string& input : inputs)
      if (input != "-") input = (root / input).string();
    return list_items(input, {.inputs = inputs, .standard_input = standard_input});
  }
  std::vector<std::string> ids(const std::vector<std::string>& inputs) const {
    std::vector<std::string> ids;
    for (const PredictItem& item : list(inputs)) ids.push_back(item.id);
    return ids;
  }
  std::string fault(const std::vector<std::string>& inputs) const {
    return error_of([&] { list(inputs); });
  }

  TemporaryDirectory folder;
  fs::path root = folder.path(), standard_input = root / "standard-input";
  PredictInput input{.kind = PredictInput::Kind::files, .suffixes = {".png"}};
};

TEST_F(Items, OfAFolderAreItsFilesByPathWithoutHiddenOnes) {
  EXPECT_THAT(ids({"."}), ElementsAre("a.PNG", "b.png", "sub/c.png", "sub/deep/a.png"));
  const std::vector<PredictItem> items = list({"."});
  EXPECT_EQ(items[3].index, 3);
  EXPECT_EQ(items[3].path, (root / "sub/deep/a.png").string());
  EXPECT_EQ(items[3].output, "");
}

TEST_F(Items, ComeInTheOrderOfTheInputsAndOnce) {
  EXPECT_THAT(ids({"sub/c.png", ".", "b.png", "e.txt"}),
              ElementsAre("c.png", "a.PNG", "b.png", "sub/deep/a.png", "e.txt"));
  EXPECT_THAT(ids({"*.png", "sub/*"}), ElementsAre("b.png", "c.png", "a.png"));
}

TEST_F(Items, HaveAnOutputEachOrAreRefused) {
  input.output_suffix = ".tif";
  EXPECT_EQ(list({"."})[3].output, "sub/deep/a.tif");
  EXPECT_THAT(fault({"a.PNG", "sub/deep/a.png"}), HasSubstr("would both become a.tif"));
}

TEST_F(Items, ThatAreMissingCountAmongOthersOnly) {
  EXPECT_THAT(ids({"b.png", "none.png"}), ElementsAre("b.png", "none.png"));
  EXPECT_THAT(fault({"bb.png"}), HasSubstr("bb.png"));
  EXPECT_THAT(fault({"x*.png"}), HasSubstr("no file matches"));
  fs::create_directory(root / "empty");
  EXPECT_THAT(fault({"empty"}), HasSubstr("holds no .png file"));
}

TEST_F(Items, OfLinesLeaveOutBlankOnes) {
  input = {.kind = PredictInput::Kind::lines};
  std::ofstream(standard_input) << "three\n";
  const std::vector<PredictItem> items = list({"e.txt", "-"});
  ASSERT_EQ(items.size(), 3U);
  EXPECT_EQ(items[1].text, "two");
  EXPECT_EQ(items[1].id, "3");
  EXPECT_THAT(items[1].name, HasSubstr("line 3 of "));
  EXPECT_EQ(items[2].name, "line 1 of standard input");
  EXPECT_EQ(items[2].text, "three");
}

TEST_F(Items, SurviveTheWayToAnotherProcessWhateverTheirNames) {
  const std::vector<PredictItem> items{
      {.index = 4, .name = "n\xff\n", .id = "i", .path = "/p\xfe", .text = "t", .output = "o"}};
  const PredictItem back = items_from_cbor(to_cbor(items)).at(0);
  EXPECT_EQ(back.index, 4);
  EXPECT_EQ(back.name, items[0].name);
  EXPECT_EQ(back.path, items[0].path);
  EXPECT_EQ(back.output, "o");
  EXPECT_NE(error_of([] { items_from_cbor("no"); }), "");
}

TEST_F(Items, AreDescribedToTheToolAsTheRecipeSays) {
  const PredictInput given{.kind = PredictInput::Kind::lines,
                           .suffixes = {".a"},
                           .output_suffix = ".b",
                           .joint_outputs = {"c"},
                           .finds_items = true,
                           .batch = 7};
  const PredictInput back = predict_input_from_json(to_json(given));
  EXPECT_EQ(back.kind, given.kind);
  EXPECT_EQ(back.suffixes, given.suffixes);
  EXPECT_EQ(back.output_suffix, given.output_suffix);
  EXPECT_EQ(back.joint_outputs, given.joint_outputs);
  EXPECT_TRUE(back.finds_items);
  EXPECT_EQ(back.batch, 7);
}

}  // namespace
}  // namespace lockstep
