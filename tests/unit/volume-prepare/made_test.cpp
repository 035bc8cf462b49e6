// The data set for those who name none.
#include <algorithm>
#include <cmath>

#include "core/media/csv_table.h"
#include "prepare_test.h"
#include "recipes/volume/prepare/made_volumes.h"

namespace lockstep::volume {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

class Made : public PrepareTest {
 protected:
  Made() {
    options.data.path.clear();
    options.data.patch = {"32"};
  }
};

TEST_F(Made, IsPreparedAndSaidToBeMade) {
  const Prepared prepared = prepare();
  EXPECT_THAT(said, HasSubstr("the volumes are made"));
  EXPECT_EQ(prepared.extra.at("made"), true);
  const PreparedVolumes found = read_prepared(prepared.extra.at("volumes").get<std::string>());
  EXPECT_EQ(found.train.size(), 6U);
  EXPECT_EQ(found.valid.size(), 2U);
  for (const VolumeEntry& entry : found.train)
    EXPECT_EQ(entry.shape, (VolumeShape{.depth = 64, .height = 80, .width = 80}));
  prepare();
  EXPECT_THAT(said, Not(HasSubstr("making")));
}

TEST_F(Made, HasSparseForegroundABandToIgnoreAndNoise) {
  for (const VolumeEntry& entry : volumes().train) {
    const CachedVolume volume(entry.cached);
    const auto labels = volume.labels();
    const auto count = [&](int label) {
      return static_cast<double>(std::count(labels.begin(), labels.end(), label)) /
             static_cast<double>(labels.size());
    };
    EXPECT_GT(count(1), 0.02) << entry.id;
    EXPECT_LT(count(1), 0.10) << entry.id;
    EXPECT_GT(count(2), 0.02) << entry.id;
    EXPECT_LT(count(2), 0.15) << entry.id;
    // No threshold finds the foreground: the noise reaches over.
    double sum[2] = {}, squares[2] = {}, n[2] = {};
    for (std::size_t i = 0; i < labels.size(); ++i) {
      if (labels[i] > 1) continue;
      const auto value = static_cast<double>(volume.image()[i]);
      sum[labels[i]] += value;
      squares[labels[i]] += value * value;
      ++n[labels[i]];
    }
    const double mean[2] = {sum[0] / n[0], sum[1] / n[1]};
    const double deviation = std::sqrt(squares[0] / n[0] - mean[0] * mean[0]);
    EXPECT_GT(mean[1] - mean[0], 1.5 * deviation) << entry.id;
    EXPECT_LT(mean[1] - mean[0], 5 * deviation) << entry.id;
  }
}

TEST_F(Made, IsTheSameEachTime) {
  const auto say = [](const std::string&) {};
  const fs::path once = made_volumes(path("one"), say), again = made_volumes(path("two"), say);
  std::size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(once)) {
    if (!entry.is_regular_file()) continue;
    ++files;
    EXPECT_EQ(read_file(entry.path()), read_file(again / entry.path().lexically_relative(once)));
  }
  EXPECT_EQ(files, 10U * 2 + 3);
  EXPECT_EQ(read_csv(once / "test.csv").rows.size(), 2U);
  EXPECT_TRUE(fs::exists(once / "test_labels" / "made-10.tif"));
  EXPECT_NE(read_file(once / "train_images/made-01.tif"),
            read_file(once / "train_images/made-02.tif"));
}

TEST_F(Made, IsMadeAgainWhereItIsOfAnotherVersion) {
  const auto say = [](const std::string&) {};
  const fs::path folder = made_volumes(cache(), say);
  write_file_atomic(folder / "version", "0\n");
  fs::remove(folder / "train.csv");
  made_volumes(cache(), say);
  EXPECT_TRUE(fs::exists(folder / "train.csv"));
}

}  // namespace
}  // namespace lockstep::volume
