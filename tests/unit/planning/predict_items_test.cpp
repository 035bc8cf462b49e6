// Which items predict makes of files, folders, globs and lines.
#include "planning/order/predict_items.h"

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "fakes/error_of.h"

#include <unistd.h>

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

TEST_F(Items, HaveAnOutputEachOrAreSkipped) {
  input.output_suffix = ".tif";
  EXPECT_EQ(list({"."})[3].output, "sub/deep/a.tif");
  std::ofstream(root / "a.png") << "another";
  const std::vector<PredictItem> items = list({"a.PNG", "a.png", "b.png"});
  EXPECT_EQ(items[0].fault, "");
  EXPECT_THAT(items[1].fault, HasSubstr("it would become a.tif, as "));
  EXPECT_THAT(items[1].fault, HasSubstr("a.PNG does"));
  EXPECT_EQ(items[2].output, "b.tif");
}

TEST_F(Items, OfOneNameAreCalledByTheFolderThatTheyShare) {
  EXPECT_THAT(ids({"sub/deep/a.png", "sub/c.png"}), ElementsAre("a.png", "c.png"));
  fs::create_directories(root / "sub/other");
  std::ofstream(root / "sub/other/a.png") << "";
  EXPECT_THAT(ids({"sub/deep/a.png", "sub/c.png", "sub/other/a.png"}),
              ElementsAre("deep/a.png", "c.png", "other/a.png"));
  EXPECT_THAT(ids({"sub/deep", "sub/other"}), ElementsAre("deep/a.png", "other/a.png"));
}

TEST_F(Items, ThatCannotBeReadAreSkippedAmongOthersAndAloneAnError) {
  fs::create_directory(root / "empty");
  const auto skips = [&](const std::string& input, const std::string& why) {
    EXPECT_THAT(fault({input}), HasSubstr(why));
    const std::vector<PredictItem> items = list({"b.png", input, "a.PNG"});
    ASSERT_EQ(items.size(), 3U) << input;
    EXPECT_EQ(items[0].fault + items[2].fault, "");
    EXPECT_THAT(items[1].fault, HasSubstr(why));
    EXPECT_EQ(items[1].index, 1);
  };
  skips("bb.png", "there is no file");
  skips("x*.png", "no file matches");
  std::string parts;
  for (int i = 0; i < 2000; ++i) parts += "**/";
  skips(parts + "x", "no file matches");
  skips("empty", "holds no .png file");
  input.kind = PredictInput::Kind::lines;
  const std::vector<PredictItem> items = list({"e.txt", "none.txt"});
  ASSERT_EQ(items.size(), 3U);
  EXPECT_THAT(items[2].fault, HasSubstr("there is no file"));
  EXPECT_THAT(fault({"none.txt"}), HasSubstr("there is no file"));
  fs::create_symlink("/dev/null/x", root / "broken.txt");
  EXPECT_EQ(list({"e.txt", "none.txt", "none.txt", "broken.txt"}).size(), 4U);
}

TEST_F(Items, OfAFolderThatCannotBeListedAreSkippedByItsName) {
  fs::permissions(root / "sub/deep", fs::perms::none);
  const bool root_may = access((root / "sub/deep").c_str(), R_OK) == 0;
  if (root_may) GTEST_SKIP() << "root may list any folder";
  const std::vector<PredictItem> items = list({"."});
  fs::permissions(root / "sub/deep", fs::perms::owner_all);
  ASSERT_EQ(items.size(), 4U);
  EXPECT_THAT(items[3].fault, HasSubstr("cannot list "));
  EXPECT_THAT(items[3].fault, HasSubstr("sub/deep: "));
}

TEST_F(Items, WhoseOutputsCanHaveNoSuchNameAreSkipped) {
  input = {.kind = PredictInput::Kind::words, .output_suffix = ".txt"};
  const std::string longest(251, 'a'), longer(252, 'a');
  const std::vector<PredictItem> items =
      list_items(input, {.inputs = {"../bar", "fine", longest, longer, "/tmp/x", "sub/x", "fine",
                                    "sub//x", "./fine", "sub\\x"}});
  ASSERT_EQ(items.size(), 9U) << "a word that comes twice counts once";
  EXPECT_THAT(items[0].fault,
              HasSubstr("a plain name below its folder, but is called \"../bar.txt\""));
  EXPECT_EQ(items[1].fault, "");
  EXPECT_EQ(items[2].fault, "");
  EXPECT_THAT(items[3].fault, HasSubstr("255 bytes"));
  EXPECT_NE(items[4].fault, "");
  EXPECT_EQ(items[5].fault, "");
  for (const std::size_t second_name : {6U, 7U})
    EXPECT_NE(items[second_name].fault, "") << "it is the file of another item";
  EXPECT_EQ(items[8].fault, "") << "a file of its own";
  EXPECT_NE(fault_of_output_name("."), "") << "the folder itself";
  EXPECT_THAT(error_of([&] { list_items(input, {.inputs = {"../bar"}}); }),
              HasSubstr("../bar: an output must have"));
}

TEST_F(Items, OfLinesLeaveOutBlankOnes) {
  input = {.kind = PredictInput::Kind::lines};
  std::ofstream(standard_input) << "three\n";
  const std::vector<PredictItem> items = list({"e.txt", "-"});
  ASSERT_EQ(items.size(), 3U);
  EXPECT_EQ(items[1].text, "two");
  EXPECT_EQ(items[1].id, "e.txt:3");
  EXPECT_THAT(items[1].name, HasSubstr("line 3 of "));
  EXPECT_EQ(items[2].name, "line 1 of standard input");
  EXPECT_EQ(items[2].text, "three");
  EXPECT_THAT(ids({"e.txt"}), ElementsAre("1", "3"));
}

TEST_F(Items, SurviveTheWayToAnotherProcessWhateverTheirNames) {
  const std::vector<PredictItem> items{{.index = 4,
                                        .name = "n\xff\n",
                                        .id = "i",
                                        .path = "/p\xfe",
                                        .further = {"/q\xfe"},
                                        .text = "t",
                                        .output = "o",
                                        .fault = "f",
                                        .pieces = 3}};
  const PredictItem back = items_from_cbor(to_cbor(items)).at(0);
  EXPECT_EQ(back.index, 4);
  EXPECT_EQ(back.name, items[0].name);
  EXPECT_EQ(back.path, items[0].path);
  EXPECT_EQ(back.further, items[0].further);
  EXPECT_EQ(back.output, "o");
  EXPECT_EQ(back.fault, "f");
  EXPECT_EQ(back.pieces, 3);
  EXPECT_NE(error_of([] { items_from_cbor("no"); }), "");
}

TEST_F(Items, AreDescribedToTheToolAsTheRecipeSays) {
  const PredictInput given{.kind = PredictInput::Kind::lines,
                           .suffixes = {".a"},
                           .output_suffix = ".b",
                           .joint_outputs = {"c"},
                           .finds_items = true,
                           .averages = true,
                           .batch = 7};
  const PredictInput back = predict_input_from_json(to_json(given));
  EXPECT_EQ(back.kind, given.kind);
  EXPECT_EQ(back.suffixes, given.suffixes);
  EXPECT_EQ(back.output_suffix, given.output_suffix);
  EXPECT_EQ(back.joint_outputs, given.joint_outputs);
  EXPECT_TRUE(back.finds_items);
  EXPECT_TRUE(back.averages);
  EXPECT_EQ(back.batch, 7);
}

}  // namespace
}  // namespace lockstep
