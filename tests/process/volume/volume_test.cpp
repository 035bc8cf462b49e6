// The volume recipe from the command to the files that a user keeps, on data that it makes.
#include "fakes/task_runs.h"

#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "core/media/csv_table.h"
#include "core/media/pictures/image.h"
#include "core/media/pictures/picture_file.h"
#include "fakes/killed_predictions.h"
#include "fakes/said_by_export.h"
#include "fakes/tenths.h"
#include "recipes/volume/files/volume_writer.h"

#include <gmock/gmock.h>
#include <algorithm>

namespace lockstep {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::run_tool;
using testing::ToolResult;
namespace fs = std::filesystem;

using volume::create_tiff;

// One of ten volumes that stand for those that the recipe makes, in a tenth of their size: a
// slanted sheet, brighter than what lies around it.
void write_small(const fs::path& set, const std::string& part, int index) {
  const volume::VolumeHeader header{.shape = {.depth = 32, .height = 40, .width = 34}};
  const std::string file = cat("made-", index < 10 ? "0" : "", index, ".tif");
  const auto image = create_tiff(set / (part + "_images") / file, header);
  const auto labels = create_tiff(set / (part + "_labels") / file, header);
  for (int z = 0; z < 32; ++z) {
    std::vector<std::uint8_t> brightness, label;
    for (int y = 0; y < 40; ++y)
      for (int x = 0; x < 34; ++x) {
        const bool inside = std::abs(y - 8 - index - z / 2) < 4 && x > 2;
        label.push_back(inside);
        brightness.push_back(
            static_cast<std::uint8_t>((inside ? 140 : 60) + (x * 7 + y * 13 + z * 5 + index) % 40));
      }
    image->write_plane(std::as_bytes(std::span(brightness)));
    labels->write_plane(std::as_bytes(std::span(label)));
  }
  image->finish();
  labels->finish();
}

class Volume : public testing::TaskRuns {
 protected:
  void SetUp() override {
    const fs::path set = folder.path() / "runs/.cache/made-volumes";
    for (int index = 1; index <= 10; ++index) {
      const std::string part = index < 9 ? "train" : "test";
      for (const char* kind : {"_images", "_labels"}) fs::create_directories(set / (part + kind));
      write_small(set, part, index);
      std::ofstream(set / (part + ".csv"), std::ios::app)
          << (index == 1 || index == 9 ? "id\n" : "") << "made-" << (index < 10 ? "0" : "") << index
          << "\n";
    }
    write_file_atomic(set / "version", "1\n");
  }
  ToolResult tool(const Words& words) const { return run_tool(words, folder.path()); }
  // A network that is quick, on the set that is made.
  ToolResult train_small(const std::string& name, int ranks, const Words& more) const {
    Words words{"train",
                "volume",
                "--name",
                name,
                "--devices",
                cat("cpu:", ranks),
                "run.record_samples=true",
                "model.width=4",
                "model.depth=2",
                "data.patch=32",
                "predict.overlap=0",
                "data.patches=2",
                "batch.global=4",
                "precision=fp32"};
    words.insert(words.end(), more.begin(), more.end());
    return tool(words);
  }
  double metric(const std::string& name, const std::string& metric) const {
    return events(name, "eval").back().at("metrics").at(metric).get<double>();
  }
};

TEST_F(Volume, HasOneCurveOnAnyNumberOfRanks) {
  for (const int ranks : {1, 3}) {
    const ToolResult result = train_small(
        cat("on", ranks), ranks,
        {"stop.steps=4", "schedule.kind=constant", "batch.global=6", "optimizer.kind=sgd"});
    ASSERT_EQ(result.code, 0) << result.err;
  }
  expect_same_curve("on3", "on1", 1e-3);
  EXPECT_NEAR(metric("on3", "dice"), metric("on1", "dice"), 1e-3);
}

TEST_F(Volume, GoesOnWithTheSamePatches) {
  const Words words{"stop.steps=6", "schedule.kind=constant", "augment.rotate=10",
                    "augment.noise=0.1", "model.deep_supervision=true"};
  ASSERT_EQ(train_small("whole", 1, words).code, 0);
  Words part = words;
  part[0] = "stop.steps=3";
  ASSERT_EQ(train_small("part", 1, part).code, 0);
  const ToolResult rest = tool({"resume", "part", "stop.steps=6", "--devices", "cpu:2"});
  ASSERT_EQ(rest.code, 0) << rest.err;
  expect_same_curve("part", "whole", 1e-3);
}

TEST_F(Volume, LeavesATableAndPicturesAndWritesMasks) {
  fs::remove_all(folder.path() / "runs");  // the volumes are those that the recipe makes
  const ToolResult trained = train_small("a", 2, {"stop.steps=8"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_THAT(trained.err + trained.out, HasSubstr("made"));
  const fs::path evaluation = run("a") / "evaluations/step-000000008";
  const CsvTable table = read_csv(evaluation / "items.csv");
  ASSERT_FALSE(table.rows.empty());
  for (const char* column : {"id", "dice", "iou", "score", "surface_dice", "voi_score"})
    EXPECT_THAT(table.columns, ::testing::Contains(column));
  EXPECT_FALSE(fs::is_empty(run("a") / "media/step-000000008"));
  EXPECT_THAT(read_file(run("a") / "curves.svg"),
              ::testing::AllOf(HasSubstr(">loss<"), HasSubstr(">dice (validation)<")));
  EXPECT_THAT(trained.err, HasSubstr("curves runs/a/curves.svg"));

  for (const int ranks : {1, 2}) {
    const ToolResult predicted =
        tool({"predict", "a", cat("out=on", ranks), "submission=submission.zip",
              "save=probabilities", "--devices", cat("cpu:", ranks)});
    ASSERT_EQ(predicted.code, 0) << predicted.err;
  }
  std::int64_t masks = 0;
  for (const auto& entry : fs::directory_iterator(folder.path() / "on1")) {
    if (!entry.is_regular_file()) continue;
    const fs::path other = folder.path() / "on2" / entry.path().filename();
    EXPECT_EQ(read_file(entry.path()), read_file(other)) << entry.path();
    masks += entry.path().extension() == ".tif";
  }
  EXPECT_GE(masks, 2);
  EXPECT_TRUE(fs::exists(folder.path() / "on1/submission.zip"));

  const fs::path file = folder.path() / "a.safetensors";
  ASSERT_EQ(tool({"export", "a", "--out", file.string()}).code, 0);
  EXPECT_THAT(testing::said_by_export(file), Not(HasSubstr(folder.path().string())));
  const fs::path image =
      *fs::directory_iterator(run("a").parent_path() / ".cache/made-volumes/test_images");
  const ToolResult alone = tool({"predict", file.string(), image.string(), "out=alone"});
  ASSERT_EQ(alone.code, 0) << alone.err;
  EXPECT_EQ(read_file(folder.path() / "alone" / image.filename()),
            read_file(folder.path() / "on1" / image.filename()));
}

TEST_F(Volume, APredictionThatIsKilledGoesOnAndMakesNothingTwice) {
  if (!testing::has_kills_of(0)) GTEST_SKIP() << testing::in_another_tenth;
  ASSERT_EQ(train_small("a", 1, {"stop.steps=2"}).code, 0);
  const fs::path images = folder.path() / "runs/.cache/made-volumes/train_images";
  testing::KilledPredictions predictions(
      {"a", images.string(), "predict.overlap=0.8", "save=probabilities", "submission=all.zip",
       "--devices", "cpu:2"},
      folder.path());
  predictions.run(0);
}

// A case of nnU-Net's: a bright block, label 1, with a brighter one in it, label 2.
void write_case(const fs::path& set, const std::string& part, const std::string& id) {
  const volume::VolumeHeader header{.shape = {.depth = 16, .height = 16, .width = 16},
                                    .spacing_mm = {{2, 1, 1}}};
  for (const char* kind : {"images", "labels"}) fs::create_directories(set / (kind + part));
  const auto image = volume::create_nifti(set / ("images" + part) / (id + "_0000.nii.gz"), header);
  const auto labels = volume::create_nifti(set / ("labels" + part) / (id + ".nii.gz"), header);
  for (int z = 0; z < 16; ++z) {
    std::vector<std::uint8_t> brightness, label;
    for (int at = 0; at < 256; ++at) {
      const int far = std::max({std::abs(z - 8), std::abs(at / 16 - 7), std::abs(at % 16 - 7)});
      label.push_back(far < 3 ? 2 : far < 6 ? 1 : 0);
      brightness.push_back(static_cast<std::uint8_t>(60 + label.back() * 80 + (at * 7) % 40));
    }
    image->write_plane(std::as_bytes(std::span(brightness)));
    labels->write_plane(std::as_bytes(std::span(label)));
  }
  image->finish();
  labels->finish();
}

TEST_F(Volume, TakesAFolderOfNnUNetAndLeavesItsSummary) {
  const fs::path set = folder.path() / "Dataset001_X";
  for (const char* id : {"ovu_001", "ovu_002", "ovu_003"}) write_case(set, "Tr", id);
  write_case(set, "Ts", "ovu_101");
  write_file_atomic(set / "dataset.json",
                    R"({"channel_names": {"0": "CT"}, "file_ending": ".nii.gz",)"
                    R"( "labels": {"background": 0, "organ": 1, "tumor": 2}})");
  const ToolResult trained =
      train_small("a", 1, {"data.path=" + set.string(), "data.patch=16", "stop.steps=2"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_THAT(trained.err, HasSubstr("data.classes=3 (0 background, 1 organ, 2 tumor)"));
  EXPECT_THAT(trained.err, Not(HasSubstr("ignored (data.ignore")));
  const ToolResult predicted = tool({"predict", "a", "out=masks", "predict.flips=true"});
  ASSERT_EQ(predicted.code, 0) << predicted.err;
  EXPECT_THAT(predicted.err, HasSubstr("tiles 1/1"));
  ASSERT_TRUE(fs::exists(folder.path() / "masks/ovu_101.nii.gz"));
  const ToolResult score =
      tool({"score", "volume", "predictions=masks", "data.path=" + set.string(), "--json"});
  ASSERT_EQ(score.code, 0) << score.err;
  const double dice_2 = nlohmann::json::parse(score.out).at("metrics").at("dice_2").get<double>();
  const auto summary = nlohmann::json::parse(read_file(folder.path() / "masks/summary.json"));
  EXPECT_EQ(summary.at("mean").at("2").at("Dice").get<double>(), dice_2);
  EXPECT_EQ(summary.at("metric_per_case").at(0).at("metrics").at("1").at("n_ref"),
            11 * 11 * 11 - 125);
  EXPECT_EQ(summary.at("hd95_unit"), "mm");
}

TEST_F(Volume, TakesFoldersOfSlices) {
  if (!testing::has_turn_twice(4)) GTEST_SKIP() << testing::in_another_tenth;
  ASSERT_EQ(train_small("a", 1, {"stop.steps=2"}).code, 0);
  const fs::path made = run("a").parent_path() / ".cache/made-volumes/test_images";
  const fs::path file = *fs::directory_iterator(made);
  for (int z = 0; z < 34; ++z) {
    Image plane({.height = 40, .width = 36, .channels = 1});
    std::fill(plane.u8().begin(), plane.u8().end(), static_cast<std::uint8_t>(z));
    fs::create_directories(folder.path() / "new/scan");
    write_file_atomic(folder.path() / "new/scan" / cat("z", z, ".png"), encode_png(plane));
  }
  for (const char* input : {"new/scan", "images=new"}) {
    const ToolResult found = tool({"predict", "a", input, cat("out=", input[0]), "--force"});
    EXPECT_EQ(found.code, 0) << found.err;
    EXPECT_TRUE(fs::exists(folder.path() / std::string(1, input[0]) / "scan.tif"));
  }
  fs::create_directories(folder.path() / "new/cut");
  for (int z = 0; z < 2; ++z)
    write_file_atomic(folder.path() / "new/cut" / cat("z", z, ".tif"), "II*");
  const ToolResult cut = tool({"predict", "a", "images=new", "out=c", "files.as_planes=true"});
  EXPECT_EQ(cut.code, 1);
  EXPECT_THAT(cut.err, HasSubstr("cut/z0.tif: it is not a TIFF file, or truncated"));
  EXPECT_TRUE(fs::exists(folder.path() / "c/scan.tif"));
  write_file_atomic(folder.path() / "bad.tif", "no volume");
  const ToolResult lacks =
      tool({"predict", "a", "bad.tif", file.string(), "out=z", "submission=submission.zip"});
  EXPECT_EQ(lacks.code, 1);
  EXPECT_THAT(lacks.err, HasSubstr("warning: submission.zip lacks 1 of 2 items: bad.tif"));
  EXPECT_EQ(tool({"predict", "a", "bad.tif", file.string(), "out=x"}).code, 1);
  EXPECT_EQ(tool({"predict", "a", "submission=a/b.zip"}).code, 2);
}

TEST_F(Volume, SharesAVolumeAmongDevices) {
  ASSERT_EQ(train_small("a", 1, {"stop.steps=2"}).code, 0);
  const fs::path made = run("a").parent_path() / ".cache/made-volumes/test_images";
  const std::string file = fs::directory_iterator(made)->path();
  std::string first;
  for (const char* devices : {"cpu:1", "cpu:2", "cpu:3"}) {
    const ToolResult result = tool({"predict", "a", file, "overlap=0.5", "save=probabilities",
                                    cat("out=", devices), "--devices", devices});
    ASSERT_EQ(result.code, 0) << result.err;
    std::string all;
    for (const auto& entry : fs::directory_iterator(folder.path() / devices))
      if (entry.is_regular_file()) all += read_file(entry.path());
    EXPECT_GT(all.size(), 0U);
    if (first.empty()) first = all;
    EXPECT_TRUE(all == first) << devices;
  }
}

TEST_F(Volume, SharesAVolumeAmongDevicesInEvaluationToo) {
  ASSERT_EQ(train_small("a", 1, {"stop.steps=2"}).code, 0);
  std::string metrics, table;
  for (const char* devices : {"cpu:1", "cpu:2", "cpu:3", "cpu:4"}) {
    const ToolResult result = tool({"evaluate", "a", "predict.overlap=0.5", "--json", "--items",
                                    "items.csv", "--devices", devices});
    ASSERT_EQ(result.code, 0) << result.err;
    const std::string found = nlohmann::json::parse(result.out).at("metrics").dump();
    const std::string rows = read_file(folder.path() / "items.csv");
    fs::remove(folder.path() / "items.csv");
    if (metrics.empty()) metrics = found, table = rows;
    EXPECT_EQ(found, metrics) << devices;
    EXPECT_EQ(rows, table) << devices;
  }
  EXPECT_LT(std::count(table.begin(), table.end(), '\n') - 1, 4) << "fewer volumes than devices";
}

TEST_F(Volume, TakesChannelsFromFilesOfTheirOwn) {
  if (!testing::has_turn_twice(0)) GTEST_SKIP() << testing::in_another_tenth;
  const ToolResult prepared = tool({"prepare", "volume", "data.patch=32"});
  ASSERT_EQ(prepared.code, 0) << prepared.err;
  const fs::path made = folder.path() / "runs/.cache/made-volumes", data = folder.path() / "data";
  const auto copy = [&](const char* from, const char* to) {
    fs::create_directories(data / to);
    for (const auto& entry : fs::directory_iterator(made / from))
      for (const char* channel : {"_0000.tif", "_0001.tif"})
        fs::copy_file(entry.path(), data / to / (entry.path().stem().string() + channel));
  };
  copy("train_images", "imagesTr");
  copy("test_images", "imagesTs");
  fs::copy(made / "train_labels", data / "labelsTr");
  const ToolResult trained = train_small("a", 1, {"data.path=data", "stop.steps=2"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  ASSERT_EQ(tool({"evaluate", "a"}).code, 0);
  const ToolResult predicted = tool({"predict", "a", "out=masks"});
  ASSERT_EQ(predicted.code, 0) << predicted.err;
  std::vector<std::string> masks;
  for (const auto& entry : fs::directory_iterator(folder.path() / "masks"))
    if (entry.is_regular_file()) masks.push_back(entry.path().filename().string());
  EXPECT_THAT(masks, ::testing::UnorderedElementsAre("made-09.tif", "made-10.tif"));
  fs::remove(data / "imagesTs/made-10_0001.tif");
  const ToolResult missing = tool({"predict", "a", "out=again"});
  EXPECT_EQ(missing.code, 1);
  EXPECT_THAT(missing.err, HasSubstr("the volume made-10 has no channel 1"));
}

TEST_F(Volume, AveragesRunsOfFolds) {
  if (!testing::has_turn_twice(0)) GTEST_SKIP() << testing::in_another_tenth;
  for (const int fold : {0, 1})
    ASSERT_EQ(
        train_small(cat("fold", fold), 1, {"stop.steps=3", "data.folds=2", cat("data.fold=", fold)})
            .code,
        0);
  const ToolResult both =
      tool({"predict", "fold0", "also=fold1", "out=both", "save=probabilities"});
  ASSERT_EQ(both.code, 0) << both.err;
  for (const int fold : {0, 1})
    ASSERT_EQ(tool({"predict", cat("fold", fold), cat("out=", fold), "save=probabilities"}).code,
              0);
  const auto bytes = [&](const std::string& name) {
    return read_file(folder.path() / name / "made-09_probability.tif");
  };
  EXPECT_NE(bytes("both"), bytes("0"));
  EXPECT_NE(bytes("both"), bytes("1"));
}

TEST_F(Volume, TrainsAndPredictsInOneCommandThatCanBeRepeated) {
  const Words then{"stop.steps=2", "--resume", "auto",
                   "--then",       "predict",  "submission=submission.zip"};
  const ToolResult first = train_small("a", 1, then);
  ASSERT_EQ(first.code, 0) << first.err;
  const fs::path zip = run("a") / "predictions/submission.zip";
  ASSERT_TRUE(fs::exists(zip));
  const std::string before = read_file(zip);
  fs::remove(zip);
  const ToolResult again = train_small("a", 1, then);
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(read_file(zip), before);
  EXPECT_EQ(events("a", "step").size(), 2U);
}

TEST_F(Volume, EvaluatesOtherDataBesideItsOwn) {
  if (!testing::has_turn_twice(3)) GTEST_SKIP() << testing::in_another_tenth;
  ASSERT_EQ(train_small("a", 1, {"stop.steps=2"}).code, 0);
  const fs::path table = run("a") / "evaluations/step-000000002/items.csv";
  const std::string own = read_file(table);
  const fs::path made = run("a").parent_path() / ".cache/made-volumes",
                 other = folder.path() / "other";
  fs::create_directories(other);
  fs::copy(made / "test_images", other / "images");
  fs::copy(made / "test_labels", other / "labels");
  const ToolResult found = tool({"evaluate", "a", "data.path=other", "predict.threshold=0.3",
                                 "predict.flips=true", "--items", "other.csv"});
  ASSERT_EQ(found.code, 0) << found.err;
  EXPECT_EQ(read_file(table), own);
  EXPECT_EQ(read_csv(folder.path() / "other.csv").rows.size(), 2U);
}

TEST_F(Volume, TakesTheLabelsOfOtherDataFromTheFolderOfTheSameName) {
  const fs::path made = run("a").parent_path() / ".cache/made-volumes";
  for (const auto& [set, part] : {std::pair("first", "train"), std::pair("other", "test")}) {
    fs::create_directories(folder.path() / set);
    fs::copy(made / cat(part, "_images"), folder.path() / set / "images");
    fs::copy(made / cat(part, "_labels"), folder.path() / set / "masks");
  }
  ASSERT_EQ(train_small("a", 1, {"stop.steps=2", "data.path=first", "data.labels=masks"}).code, 0);
  const ToolResult found = tool({"evaluate", "a", "data.path=other", "--items", "other.csv"});
  ASSERT_EQ(found.code, 0) << found.err;
  EXPECT_EQ(read_csv(folder.path() / "other.csv").rows.size(), 2U);
}

TEST_F(Volume, EvaluatesAgainAndScoresFiles) {
  if (!testing::has_turn_twice(3)) GTEST_SKIP() << testing::in_another_tenth;
  ASSERT_EQ(train_small("a", 1, {"stop.steps=8"}).code, 0);
  const ToolResult again = tool({"evaluate", "a", "--json", "--devices", "cpu:1"});
  ASSERT_EQ(again.code, 0) << again.err;
  const double dice = metric("a", "dice");
  EXPECT_NEAR(nlohmann::json::parse(again.out).at("metrics").at("dice").get<double>(), dice, 1e-6);
  ASSERT_EQ(tool({"predict", "a", "out=masks"}).code, 0);
  const fs::path made = run("a").parent_path() / ".cache/made-volumes";
  const ToolResult score =
      tool({"score", "volume", "predictions=masks", "data.path=" + made.string(), "--json"});
  ASSERT_EQ(score.code, 0) << score.err;
  EXPECT_THAT(score.out, HasSubstr("surface_dice"));
}

}  // namespace
}  // namespace lockstep
