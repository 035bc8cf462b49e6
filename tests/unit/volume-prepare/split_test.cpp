// Which volumes are held back.
#include <algorithm>
#include <set>

#include "prepare_test.h"
#include "recipes/volume/prepare/split.h"

namespace lockstep::volume {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> some_ids(int count) {
  std::vector<std::string> ids;
  for (int i = 0; i < count; ++i) ids.push_back(cat("scan-", i));
  return ids;
}

std::int64_t chosen_of(const VolumeOptions& options, int count) {
  const auto chosen = choose_valid(options, some_ids(count));
  return std::count(chosen.begin(), chosen.end(), true);
}

TEST(Split, TakesAShareOfTheVolumesAndAtLeastOne) {
  VolumeOptions options;
  EXPECT_EQ(chosen_of(options, 10), 2);
  EXPECT_EQ(chosen_of(options, 806), 161);
  EXPECT_EQ(chosen_of(options, 2), 1);
  EXPECT_EQ(chosen_of(options, 1), 0);
  options.data.valid_share = 0;
  EXPECT_EQ(chosen_of(options, 10), 0);
  options.data.valid_share = 0.9;
  EXPECT_EQ(chosen_of(options, 3), 2) << "one is left for training";
}

TEST(Split, IsTheSameEachTimeAndMixed) {
  VolumeOptions options;
  options.data.valid_share = 0.5;
  const auto first = choose_valid(options, some_ids(100));
  EXPECT_EQ(choose_valid(options, some_ids(100)), first);
  const auto half = std::count(first.begin(), first.begin() + 50, true);
  EXPECT_GT(half, 10);
  EXPECT_LT(half, 40);
}

TEST(Split, FoldsTakeEachVolumeOnce) {
  VolumeOptions options;
  options.data.folds = 3;
  std::vector<int> times(10);
  for (options.data.fold = 0; options.data.fold < 3; ++options.data.fold) {
    const auto chosen = choose_valid(options, some_ids(10));
    const auto count = std::count(chosen.begin(), chosen.end(), true);
    EXPECT_GE(count, 3);
    EXPECT_LE(count, 4);
    for (std::size_t i = 0; i < 10; ++i) times[i] += chosen[i];
  }
  EXPECT_EQ(times, std::vector<int>(10, 1));
}

TEST(Split, RefusesFoldsThatCannotBe) {
  VolumeOptions options;
  options.data.folds = 5;
  EXPECT_THAT(error_if_any([&] { choose_valid(options, some_ids(3)); }),
              HasSubstr("data.folds is 5, but there are 3 volumes"));
  options.data.folds = 2;
  options.data.fold = 2;
  EXPECT_THAT(error_if_any([&] { choose_valid(options, some_ids(3)); }),
              HasSubstr("data.fold must be below data.folds=2, but is 2"));
}

using SplitByName = PrepareTest;

TEST_F(SplitByName, TakesIdsOrAFileOfThem) {
  write_pairs({"a", "b", "c"});
  options.data.valid = {"c", "a"};
  EXPECT_THAT(ids_of(volumes().valid), ElementsAre("a", "c"));
  EXPECT_THAT(ids_of(volumes().train), ElementsAre("b"));
  write_text("valid.txt", "b\n\n");
  options.data.valid = {(data() / "valid.txt").string()};
  EXPECT_THAT(ids_of(volumes().valid), ElementsAre("b"));
  write_text("valid.csv", "n,id\n1,c\n");
  options.data.valid = {(data() / "valid.csv").string()};
  EXPECT_THAT(ids_of(volumes().valid), ElementsAre("c"));
}

TEST_F(SplitByName, RefusesIdsThatAreNotThere) {
  write_pairs({"scan-a", "scan-b"});
  options.data.valid = {"scan-c"};
  EXPECT_THAT(prepare_error(), AllOf(HasSubstr("data.valid: there is no volume scan-c"),
                                     HasSubstr("the nearest id is scan-")));
  EXPECT_EQ(said.find("reading"), std::string::npos) << "before anything is decoded";
  options.data.valid = {"scan-a", "scan-b"};
  EXPECT_THAT(prepare_error(), HasSubstr("no volume is left for training"));
}

using SplitOfOne = PrepareTest;

TEST_F(SplitOfOne, HoldsItsLastPlanesBack) {
  write_pair("a", {.depth = 40, .height = 5, .width = 7});
  const PreparedVolumes found = volumes();
  ASSERT_EQ(found.train.size(), 1U);
  ASSERT_EQ(found.valid.size(), 1U);
  EXPECT_EQ(found.train[0].begin, 0);
  EXPECT_EQ(found.train[0].end, 32);
  EXPECT_EQ(found.valid[0].begin, 32);
  EXPECT_EQ(found.valid[0].end, 40);
  EXPECT_THAT(said, HasSubstr("its last 8 of 40 planes are held back"));
}

TEST_F(SplitOfOne, HoldsAPatchBackWhereItCan) {
  options.data.patch = {"16", "4", "4"};
  write_pair("a", {.depth = 40, .height = 5, .width = 7});
  EXPECT_EQ(volumes().valid[0].begin, 24);
  write_pair("a", {.depth = 20, .height = 5, .width = 7});
  EXPECT_EQ(volumes().valid[0].begin, 16) << "a patch is left for training";
  write_pair("a", {.depth = 16, .height = 4, .width = 4});
  EXPECT_THAT(volumes().valid, IsEmpty());
  EXPECT_THAT(said, AllOf(HasSubstr("warning: there is one volume, a, and with 16 x 4 x 4"),
                          HasSubstr("patches of 16,4,4: nothing is validated"),
                          HasSubstr("data.patch or data.pad=true")));
  options.data.pad = true;
  EXPECT_EQ(volumes().valid.at(0).begin, 13) << "a share of them; both parts are filled up";
  options.data.valid_share = 0;
  EXPECT_THAT(volumes().valid, IsEmpty());
  EXPECT_EQ(said.find("warning"), std::string::npos);
}

// The voxels and labels of rows or columns of the whole, in two cached files.
TEST_F(SplitOfOne, HoldsRowsOrColumnsBackWhereItHasNoMorePlanesThanAPatch) {
  const VolumeShape shapes[] = {{.depth = 4, .height = 20, .width = 7, .channels = 1},
                                {.depth = 4, .height = 7, .width = 20, .channels = 1}};
  for (const VolumeShape& shape : shapes) {
    write_pair("a", shape);
    const bool rows = shape.height == 20;
    const PreparedVolumes found = volumes();
    EXPECT_THAT(said, HasSubstr(cat("its last 4 of 20 ", rows ? "rows" : "columns",
                                    " are held back for validation")));
    ASSERT_EQ(found.valid.size(), 1U);
    const auto image = image_of(shape, 'a'), labels = labels_of(shape);
    for (const VolumeEntry& entry : {found.train[0], found.valid[0]}) {
      const std::int64_t begin = entry == found.train[0] ? 0 : 16, end = begin == 0 ? 16 : 20;
      const CachedVolume volume(entry.cached);
      EXPECT_TRUE(volume.has_its_content());
      EXPECT_EQ(entry.shape, volume.shape());
      EXPECT_EQ(rows ? volume.shape().height : volume.shape().width, end - begin);
      std::vector<std::uint8_t> voxels_of_part, labels_of_part;
      for (std::int64_t i = 0; i < std::ssize(image); ++i) {
        const std::int64_t at = rows ? i / shape.width % shape.height : i % shape.width;
        if (at < begin || at >= end) continue;
        voxels_of_part.push_back(image[static_cast<std::size_t>(i)]);
        labels_of_part.push_back(labels[static_cast<std::size_t>(i)]);
      }
      EXPECT_TRUE(std::ranges::equal(volume.image(), std::as_bytes(std::span(voxels_of_part))));
      EXPECT_TRUE(std::ranges::equal(volume.labels(), labels_of_part));
    }
  }
}

TEST_F(SplitOfOne, GoesOnWithItsRowsWithoutACache) {
  write_pair("a", {.depth = 4, .height = 20, .width = 7});
  age();
  const fs::path run = make_run(prepare());
  const PreparedVolumes before = read_prepared(run / "recipe/volumes.json");
  fs::remove_all(cache());
  const PreparedVolumes now =
      read_prepared(prepare(Purpose::evaluate, run).extra.at("volumes").get<std::string>());
  EXPECT_EQ(now.train, before.train);
  EXPECT_EQ(now.valid, before.valid);
  EXPECT_TRUE(CachedVolume(now.valid.at(0).cached).has_its_content());
  write_image("a", {.depth = 4, .height = 20, .width = 7}, 5);
  EXPECT_THAT(error_if_any([&] { prepare(Purpose::train, run); }),
              HasSubstr("a volume of this run has changed since the run began: a |"));
  write_pair("a", {.depth = 4, .height = 10, .width = 7});
  EXPECT_THAT(error_if_any([&] { prepare(Purpose::train, run); }), HasSubstr("has changed"));
}

TEST_F(SplitOfOne, GoesOnWithOtherOptionsOfFilesWhereTheVoxelsAreTheSame) {
  write_pair("a", {.depth = 4, .height = 20, .width = 7});
  age();
  const fs::path run = make_run(prepare());
  const PreparedVolumes before = read_prepared(run / "recipe/volumes.json");
  options.files.same_grid = true;
  const PreparedVolumes now =
      read_prepared(prepare(Purpose::train, run).extra.at("volumes").get<std::string>());
  EXPECT_EQ(now.valid.at(0).part, before.valid.at(0).part);
  EXPECT_NE(now.valid.at(0).cached, before.valid.at(0).cached);
  write_image("a", {.depth = 4, .height = 20, .width = 7}, 5);
  EXPECT_THAT(error_if_any([&] { prepare(Purpose::train, run); }), HasSubstr("has changed"));
}

}  // namespace
}  // namespace lockstep::volume
