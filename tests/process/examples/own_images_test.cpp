// examples/own_images: a classifier with batch norm, and its trunk frozen for other classes.
#include "fakes/task_runs.h"

#include "core/base/files/files.h"
#include "core/media/csv_table.h"
#include "core/media/pictures/picture_file.h"
#include "fakes/tenths.h"
#include "runtime/run/formats/safetensors.h"

#include <gmock/gmock.h>

namespace lockstep {
namespace {

using ::testing::HasSubstr;
using testing::run_tool;
using testing::ToolResult;
namespace fs = std::filesystem;

class OwnImages : public testing::TaskRuns {
 protected:
  OwnImages() : TaskRuns("own-images") {}
  void train_on(const std::string& name, int ranks, Words words) const {
    words.insert(words.begin(), {"model.width=16", "data.size=48", "precision=fp32"});
    const ToolResult result = train("images", name, "cpu:" + std::to_string(ranks), words);
    ASSERT_EQ(result.code, 0) << result.err;
  }
  ToolResult tool(const Words& words) const { return run_tool(words, folder.path()); }
  double accuracy(const std::string& name) const {
    return events(name, "eval").back().at("metrics").at("accuracy").get<double>();
  }
  // Bytes of a tensor of the newest weights.
  std::string weight(const std::string& name, const std::string& tensor) const {
    const fs::path file = folder.path() / (name + ".safetensors");
    EXPECT_EQ(tool({"export", name, "--force", "--out", file.string()}).code, 0);
    const SafetensorsHeader header = read_header(file);
    const std::string bytes = read_file(file);
    for (const TensorEntry& entry : header.tensors)
      if (entry.name == tensor)
        return bytes.substr(header.data_start + entry.begin, entry.end - entry.begin);
    ADD_FAILURE() << "no tensor " << tensor;
    return "";
  }
  fs::path shapes() const { return folder.path() / "runs/.cache/shapes"; }
};

TEST_F(OwnImages, WithStatisticsOverRanksHasOneCurveOn1And3) {
  // Rounding turns a unit of the many on or off now and then, which the next steps make more of.
  const Words sync{"norm.statistics=sync", "norm.rows=12",           "stop.steps=3",
                   "optimizer.kind=sgd",   "schedule.kind=constant", "optimizer.lr=1e-3"};
  for (const int ranks : {1, 3}) train_on("on" + std::to_string(ranks), ranks, sync);
  expect_same_curve("on3", "on1", 2e-3);
  EXPECT_NEAR(steps("on3").at(1).at("grad_norm").get<double>(),
              steps("on1").at(1).at("grad_norm").get<double>(), 1e-4);
}

TEST_F(OwnImages, LearnsAndItsTrunkServesForOtherClasses) {
  if (!testing::has_turn_twice(0)) GTEST_SKIP() << testing::in_another_tenth;
  train_on("base", 2, {"stop.epochs=20", "optimizer.lr=3e-3"});
  EXPECT_GT(accuracy("base"), 0.9);
  const fs::path round = folder.path() / "other/round", cornered = folder.path() / "other/cornered";
  fs::create_directories(round.parent_path());
  fs::copy(shapes() / "circle", round);
  fs::copy(shapes() / "square", cornered);
  const Words frozen{"data.path=other",      "init.from=base",         "init.missing=fc.*",
                     "train.freeze=*,!fc.*", "norm.statistics=frozen", "stop.epochs=5",
                     "optimizer.lr=1e-2"};
  for (const int ranks : {1, 3}) train_on("head" + std::to_string(ranks), ranks, frozen);
  expect_same_curve("head3", "head1");
  EXPECT_GT(accuracy("head3"), 0.9);
  const std::string trunk = weight("base", "layer3.0.conv1.weight");
  EXPECT_EQ(weight("head3", "layer3.0.conv1.weight"), trunk);
  EXPECT_EQ(weight("head1", "layer3.0.bn1.running_mean"),
            weight("base", "layer3.0.bn1.running_mean"));
}

TEST_F(OwnImages, PredictsPicturesAndSkipsWhatIsNone) {
  if (!testing::has_turn_twice(1)) GTEST_SKIP() << testing::in_another_tenth;
  train_on("a", 1, {"stop.epochs=2"});
  EXPECT_FALSE(fs::is_empty(run("a") / "media"));
  fs::create_directory(folder.path() / "new");
  for (int i = 0; i < 40; ++i)
    fs::copy_file(shapes() / "circle" / (std::to_string(i) + ".png"),
                  folder.path() / "new" / (std::to_string(i) + ".png"));
  write_file_atomic(folder.path() / "new/text.png", "no picture");
  for (const char* ranks : {"1", "3"}) {
    const ToolResult result = tool({"predict", "a", "new", std::string("out=on") + ranks,
                                    "--devices", std::string("cpu:") + ranks});
    EXPECT_EQ(result.code, 1);
    EXPECT_THAT(result.err, HasSubstr("text.png"));
  }
  const CsvTable found = read_csv(folder.path() / "on1/predictions.csv");
  EXPECT_EQ(found.rows.size(), 40U);
  EXPECT_EQ(read_file(folder.path() / "on3/predictions.csv"),
            read_file(folder.path() / "on1/predictions.csv"));
}

TEST_F(OwnImages, RefusesAFolderOfOtherClasses) {
  train_on("a", 1, {"stop.steps=2"});
  fs::create_directories(folder.path() / "wrong/star");
  fs::copy_file(shapes() / "circle/0.png", folder.path() / "wrong/star/0.png");
  EXPECT_THAT(tool({"evaluate", "a", "data.valid=wrong"}).err,
              HasSubstr("holds a folder star, but the model knows no such class"));
  const ToolResult one = train("images", "b", "cpu:1", {"data.path=wrong"});
  EXPECT_EQ(one.code, 2);
  EXPECT_THAT(one.err, HasSubstr("FOLDER/cat/1.jpg"));
}

}  // namespace
}  // namespace lockstep
