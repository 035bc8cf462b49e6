// Ids of predicted pictures.
#include "recipes/fewshot/sets/picture_ids.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "recipes/fewshot/sets/sets.h"

namespace lockstep::fewshot {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
namespace fs = std::filesystem;

// As an export keeps them.
json kept(const json& ids) { return {{"picture_ids", ids}}; }

TEST(PictureIds, AreThoseOfTheRunThenNumbersThenPlaces) {
  EXPECT_THAT(picture_ids({"/x/cat.jpg", "/000000000139.jpg", "/dog.png"}, kept({{"cat.jpg", 77}})),
              ElementsAre(77, 139, 1));
  EXPECT_THAT(picture_ids({}, {}), ElementsAre());
}

TEST(PictureIds, NeverCollide) {
  // A place that a number or a known picture has, whether before or after it.
  EXPECT_THAT(picture_ids({"/a.jpg", "/1.jpg", "/b.jpg", "/c.jpg"}, kept({{"c.jpg", 2}})),
              ElementsAre(3, 1, 4, 2));
  // The same number twice.
  EXPECT_THAT(picture_ids({"/x/7.jpg", "/y/7.jpg", "/007.png"}, {}), ElementsAre(7, 1, 2));
}

TEST(PictureIds, ANameThatTwoPicturesHaveNeedsItsFolder) {
  EXPECT_THAT(picture_ids({"/x/cat.jpg", "/y/cat.jpg"}, kept({{"cat.jpg", 5}})), ElementsAre(1, 2));
  EXPECT_THAT(
      picture_ids({"/x/camA/0.jpg", "/x/camB/0.jpg"}, kept({{"camA/0.jpg", 8}, {"camB/0.jpg", 7}})),
      ElementsAre(8, 7));
}

TEST(PictureIds, TakeWholeNumbersAlone) {
  EXPECT_THAT(
      picture_ids({"/-4.jpg", "/3a.jpg", "/99999999999999999999.jpg", "/.jpg", "/0.jpg"}, {}),
      ElementsAre(1, 2, 3, 4, 0));
}

class PictureIdsOfJsons : public ::testing::Test {
 protected:
  void write(const fs::path& json_file, const std::map<std::string, std::int64_t>& ids) const {
    json images = json::array();
    for (const auto& [name, id] : ids) images.push_back({{"id", id}, {"file_name", name}});
    fs::create_directories((root() / json_file).parent_path());
    write_file_atomic(root() / json_file,
                      json{{"images", images}, {"annotations", json::array()}}.dump());
  }
  fs::path root() const { return folder_.path(); }
  std::vector<std::int64_t> ids(const std::vector<std::string>& names, const json& extra) const {
    std::vector<fs::path> paths;
    for (const std::string& name : names) paths.push_back(root() / name);
    return picture_ids(paths, extra);
  }
  // A run on data/train.json and data/valid.json.
  json run() const {
    const SetsRecord record{
        .files = {.train = name_detection_files(root() / "data/train.json", {}),
                  .valid = name_detection_files(root() / "data/valid.json", {})},
        .base = {},
        .novel = {},
        .fingerprint = "of before"};
    return {{"sets", to_json(record)}};
  }
  TemporaryDirectory folder_;
};

// The names are numbers, and each json has its own ids for them.
TEST_F(PictureIdsOfJsons, AJsonBesideThePicturesGoesFirst) {
  write("data/train.json", {{"001.png", 11}, {"002.png", 12}});
  write("data/valid.json", {{"001.png", 21}, {"only.png", 22}});
  write("data/test.json", {{"001.png", 31}, {"other.png", 32}});
  write("robo/test/_annotations.coco.json", {{"001.png", 41}});
  write("coco/annotations/instances_val2017.json", {{"001.png", 51}});
  write("coco/annotations/instances_train2017.json", {{"001.png", 52}});
  write_file_atomic(root() / "data/detections.json", "[]");  // no list of pictures
  EXPECT_THAT(ids({"data/test/other.png", "data/test/001.png", "robo/test/001.png",
                   "coco/val2017/001.png", "data/train/001.png", "data/valid/001.png"},
                  run()),
              ElementsAre(32, 31, 41, 51, 11, 21));
}

// The user named the folder beside the json, and its pictures lie in folders below it.
TEST_F(PictureIdsOfJsons, AJsonBesideTheNamedFolderCountsForFoldersBelowIt) {
  write("data/test.json", {{"camA/x.png", 32}, {"camB/x.png", 31}, {"camB/deep/x.png", 30}});
  const std::vector<std::string> names{"camA/x.png", "camB/deep/x.png", "camB/x.png"};
  std::vector<fs::path> paths;
  for (const std::string& name : names) paths.push_back(root() / "data/test" / name);
  EXPECT_THAT(picture_ids(paths, {}, names), ElementsAre(32, 30, 31));
}

// A json for each folder of pictures, and one for each picture of another.
TEST_F(PictureIdsOfJsons, ManyJsonsEachNameTheirOwn) {
  std::vector<std::string> pictures;
  std::vector<std::int64_t> wanted;
  for (int i = 0; i < 30; ++i) {
    const std::string name = cat("part", i);
    write(cat("all/annotations/", name, ".json"), {{"a.png", 100 + i}});
    pictures.push_back(cat("all/", name, "/a.png"));
    wanted.push_back(100 + i);
    write(cat("one/", name, ".json"), {{name + ".png", 5000 + i}});
    pictures.push_back(cat("one/", name, ".png"));
    wanted.push_back(5000 + i);
  }
  EXPECT_EQ(ids(pictures, {}), wanted);
}

TEST_F(PictureIdsOfJsons, ThoseOfTheRunFollowByPathAndThenByName) {
  write("data/train.json", {{"001.png", 11}, {"002.png", 12}});
  write("data/valid.json", {{"001.png", 21}, {"only.png", 22}});
  EXPECT_THAT(ids({"elsewhere/001.png", "elsewhere/002.png", "elsewhere/only.png",
                   "elsewhere/3.png", "elsewhere/x.png"},
                  run()),
              ElementsAre(21, 12, 22, 3, 1));
  // A list whose files lie below the folder that it lies in, and a name that comes twice in it.
  write("data/valid.json", {{"a/001.png", 21}, {"b/001.png", 22}, {"b/two.png", 23}});
  EXPECT_THAT(ids({"data/valid/b/001.png", "far/two.png"}, run()), ElementsAre(22, 23));
  const json before = run();
  fs::remove_all(root() / "data/valid.json");
  EXPECT_THAT(ids({"far/002.png"}, before), ElementsAre(12));
}

TEST_F(PictureIdsOfJsons, OfPascalVocTheyCountThePictures) {
  for (const char* name : {"b", "a"}) {
    fs::create_directories(root() / "voc/Annotations");
    write_file_atomic(root() / "voc/Annotations" / (std::string(name) + ".xml"),
                      "<annotation><filename>other.png</filename></annotation>");
  }
  write_file_atomic(root() / "voc/Annotations/a.jpg", "");
  const VocFolders files{.annotations = root() / "voc/Annotations",
                         .pictures = root() / "voc/Annotations",
                         .list = {}};
  EXPECT_EQ(PictureList(files).id_of_name("a.jpg"), 1);
  EXPECT_EQ(PictureList(files).id_of_name("other.png"), 2);
}

}  // namespace
}  // namespace lockstep::fewshot
