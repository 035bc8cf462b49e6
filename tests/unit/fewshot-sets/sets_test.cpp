// The run's record of its data, the boxes that fine-tuning sees, and the episodes of evaluations.
#include "recipes/fewshot/sets/sets.h"

#include <gmock/gmock.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "core/media/pictures/picture_file.h"
#include "recipes/fewshot/annotations/coco.h"
#include "recipes/fewshot/episodes/class_pictures.h"
#include "recipes/fewshot/sets/evaluation_plan.h"
#include "recipes/fewshot/sets/support_list.h"
#include "recipes/fewshot/shapes/made_shapes.h"
#include "tests/fakes/error_of.h"

namespace lockstep::fewshot {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

DetectionData shapes(int pictures, int first = 0) {
  return describe_shapes({.pictures = pictures, .first = first});
}

// Two sets in files, which need no pixels beyond their size.
class SetsTest : public ::testing::Test {
 protected:
  SetsTest() {
    write("train", shapes(30));
    write("valid", shapes(10, 30));
    record.files = find_detection_data(folder.path());
    record.base = {"circle", "square", "triangle"};
    record.novel = {"star", "ring"};
  }
  void write(const std::string& name, const DetectionData& data) const {
    std::filesystem::create_directories(folder.path() / name);
    for (const Picture& picture : data.pictures)
      write_file_atomic(folder.path() / name / picture.path, "");
    write_file_atomic(folder.path() / (name + ".json"), coco_json(data, "a test"));
  }
  TemporaryDirectory folder;
  SetsRecord record;
};

TEST_F(SetsTest, AreReadAsTheRecordSays) {
  const Sets sets = read_sets(record);
  EXPECT_EQ(sets.train.pictures.size(), 30U);
  EXPECT_EQ(sets.valid.pictures.size(), 10U);
  EXPECT_THAT(sets.split.base, ElementsAre(0, 1, 2));
  EXPECT_THAT(sets.split.novel, ElementsAre(3, 5));
  EXPECT_EQ(used_classes(sets.split, ClassUse::base), sets.split.base);
  EXPECT_EQ(used_classes(sets.split, ClassUse::novel), sets.split.novel);
  EXPECT_THAT(used_classes(sets.split, ClassUse::all), ElementsAre(0, 1, 2, 3, 5));
  record.base = {"circle", "dodo"};
  EXPECT_THAT(error_of([&] { read_sets(record); }), HasSubstr("class dodo is not in"));
}

TEST_F(SetsTest, ARecordIsWrittenAndReadBack) {
  record.valid_share = 0.3;
  record.seed = 9;
  record.fingerprint = "abc";
  const SetsRecord again = sets_record_from_json(to_json(record));
  EXPECT_EQ(to_json(again), to_json(record));
  EXPECT_EQ(again.seed, 9U);
  SetsRecord voc{.files = {.train = VocFolders{.annotations = "/a", .pictures = "/p", .list = "/l"},
                           .valid = {}}};
  EXPECT_EQ(to_json(sets_record_from_json(to_json(voc))), to_json(voc));
  record.exif = ExifFrame::stored;
  record.look = true;
  EXPECT_EQ(sets_record_from_json(to_json(record)).exif, ExifFrame::stored);
  EXPECT_TRUE(sets_record_from_json(to_json(record)).look);
  json damaged = to_json(record);
  damaged.erase("base");
  EXPECT_THAT(error_of([&] { sets_record_from_json(damaged); }), HasSubstr("damaged"));
}

// An evaluation of an older run is of the same data as the run where its record is the same.
TEST_F(SetsTest, ARecordOfUprightPicturesIsThatOfOlderRuns) {
  EXPECT_FALSE(to_json(record).contains("exif"));
  EXPECT_FALSE(to_json(record).contains("look"));
  EXPECT_EQ(sets_record_from_json(to_json(record)).exif, ExifFrame::automatic);
}

TEST_F(SetsTest, ThatChangedSinceAreRefused) {
  const Sets before = read_sets(record);
  record.fingerprint = fingerprint_of(before.train, before.valid);
  EXPECT_NO_THROW(read_sets(record));
  DetectionData changed = shapes(30);
  changed.boxes[5].x += 1;
  write("train", changed);
  EXPECT_THAT(error_of([&] { read_sets(record); }), HasSubstr("have changed since the run began"));
  write("train", shapes(30));
  EXPECT_NO_THROW(read_sets(record));
  write("valid", shapes(9, 30));
  EXPECT_THAT(error_of([&] { read_sets(record); }), HasSubstr("have changed"));
}

std::map<int, std::int64_t> counts(const DetectionData& data) {
  std::map<int, std::int64_t> all;
  for (const Box& box : data.boxes) all[box.category] += box.counts() ? 1 : 0;
  return all;
}

TEST(KeepShots, LeavesSoManyBoxesOfEachClassInAsManyPictures) {
  const DetectionData whole = shapes(120);
  for (const std::int64_t shots : {1, 3, 10}) {
    DetectionData data = whole;
    keep_shots(data, {3, 5}, shots, 1);
    ASSERT_EQ(data.boxes.size(), whole.boxes.size());
    EXPECT_EQ(counts(data).at(3), shots);
    EXPECT_EQ(counts(data).at(5), shots);
    EXPECT_EQ(counts(data).at(0), counts(whole).at(0));  // not of these classes
    std::set<int> pictures;
    for (const Box& box : data.boxes)
      if (box.category == 3 && box.counts()) pictures.insert(box.picture);
    EXPECT_EQ(std::ssize(pictures), shots);
  }
}

TEST(KeepShots, AreDrawnFromTheSeedAndThoseOfFewerAreAmongThem) {
  const auto kept = [](std::int64_t shots, std::uint64_t seed) {
    DetectionData data = shapes(120);
    keep_shots(data, {3}, shots, seed);
    std::set<std::int64_t> ids;
    for (const Box& box : data.boxes)
      if (box.category == 3 && box.counts()) ids.insert(box.id);
    return ids;
  };
  EXPECT_EQ(kept(3, 1), kept(3, 1));
  EXPECT_NE(kept(3, 1), kept(3, 2));
  const auto three = kept(3, 1), five = kept(5, 1);
  EXPECT_TRUE(std::includes(five.begin(), five.end(), three.begin(), three.end()));
  DetectionData all = shapes(12);
  const auto before = counts(all);
  keep_shots(all, {0, 1, 2, 3}, 0, 1);
  EXPECT_EQ(counts(all), before);
  keep_shots(all, {0, 1, 2, 3}, 1000, 1);
  EXPECT_EQ(counts(all), before);
}

TEST(MostBoxes, AreThoseOfTheFullestPicture) {
  DetectionData data{.pictures = {{.id = 1}, {.id = 2}, {.id = 3}}};
  index_boxes(data);
  EXPECT_EQ(most_boxes(data), 1);
  data.boxes = {{.picture = 1}, {.picture = 1}, {.picture = 2}, {.picture = 1}};
  index_boxes(data);
  EXPECT_EQ(most_boxes(data), 3);
}

TEST_F(SetsTest, EvaluationTakesBothKindsOfClassesAndEachNumberOfShots) {
  const Sets sets = read_sets(record);
  FewshotOptions options;
  options.episode.n_way = 5;
  options.table.set("evaluate.shots", "1,2");
  const auto groups = evaluation_groups(options, sets);
  ASSERT_EQ(groups.size(), 4U);
  EXPECT_EQ(groups[0].name, "base");
  EXPECT_EQ(groups[1].shots, 2);
  EXPECT_EQ(groups[2].name, "novel");
  EXPECT_LE(groups[0].episodes.shape().n_way, 3) << "no more than there are";
  const Episode one = groups[0].episodes.at(0, 0), two = groups[1].episodes.at(0, 0);
  EXPECT_EQ(one.classes, two.classes);
  EXPECT_EQ(one.queries, two.queries);
  EXPECT_EQ(two.supports.size(), 2 * one.supports.size());
  for (const int category : groups[2].episodes.at(0, 3).classes)
    EXPECT_THAT(sets.split.novel, ::testing::Contains(category));
  options.data.classes = ClassUse::novel;
  EXPECT_EQ(evaluation_groups(options, sets)[0].name, "novel");
}

TEST_F(SetsTest, EvaluationLeavesOutAKindThatCannotBeDrawn) {
  record.novel = {};
  const auto groups = evaluation_groups(FewshotOptions(), read_sets(record));
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].name, "base");
}

TEST(TrueBoxes, HaveIdsOfTheFileAndSayWhatDoesNotCount) {
  DetectionData data{.categories = {{.id = 7, .name = "a"}, {.id = 9, .name = "b"}},
                     .pictures = {{.id = 40}, {.id = 50}}};
  data.boxes = {{.picture = 1, .category = 0, .x = 1, .y = 2, .w = 3, .h = 4, .area = 11},
                {.picture = 1, .category = 1, .crowd = true},
                {.picture = 0, .category = 1, .difficult = true}};
  index_boxes(data);
  const auto all = true_boxes(data);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_TRUE(all[0].ignore);
  EXPECT_EQ(all[0].picture, 40);
  EXPECT_EQ(all[1].category, 7);
  EXPECT_EQ(all[1].area, 11);
  EXPECT_EQ(all[1].height, 4);
  EXPECT_TRUE(all[2].crowd);
}

TEST(SupportList, IsWrittenAndReadBack) {
  const SupportList list{
      {.name = "pawn",
       .id = 4,
       .novel = true,
       .examples = {{.picture = {.id = 3, .path = "/a/b.jpg", .width = 10, .height = 20},
                     .box = {.x = 1, .y = 2, .w = 3.5, .h = 4}}}}};
  const SupportList again = support_list_from_json(to_json(list));
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].name, "pawn");
  EXPECT_EQ(again[0].id, 4);
  EXPECT_TRUE(again[0].novel);
  EXPECT_EQ(again[0].examples.at(0).picture, list[0].examples[0].picture);
  EXPECT_EQ(again[0].examples.at(0).box.w, 3.5F);
}

}  // namespace
}  // namespace lockstep::fewshot
