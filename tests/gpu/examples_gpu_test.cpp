// The examples on real GPUs, in bf16 and with graphs: all of the contract that they use.
#include "gpu_runs.h"

#include "core/base/files/files.h"
#include "core/media/csv_table.h"

#include <gtest/gtest.h>

#include <set>

namespace lockstep {
namespace {

using testing::run_tool;
using testing::ToolResult;
namespace fs = std::filesystem;

class ExamplesOnGpus : public testing::GpuRuns {
 protected:
  using GpuRuns::GpuRuns;
  double accuracy(const std::string& name) const {
    return events(name, "eval").back().at("metrics").at("accuracy").get<double>();
  }
  // What is predicted on GPU 0 alone and on all GPUs of the test.
  void expect_same_predictions(const std::string& name, const std::string& input,
                               std::size_t rows) const {
    for (const std::string& on : std::set<std::string>{"0", devices()}) {
      const ToolResult result =
          run_tool({"predict", name, input, "out=on" + on, "--devices", on}, folder.path());
      ASSERT_EQ(result.code, 0) << result.err;
    }
    const fs::path one = folder.path() / "on0/predictions.csv";
    EXPECT_EQ(read_csv(one).rows.size(), rows);
    EXPECT_EQ(read_file(folder.path() / ("on" + devices()) / "predictions.csv"), read_file(one));
  }
};

struct TableOnGpus : ExamplesOnGpus {
  TableOnGpus() : ExamplesOnGpus("own-table") {}
};

TEST_P(TableOnGpus, LearnsInAGraphAndPredictsTheSameOnAnyNumber) {
  fs::copy_file(fs::path(LOCKSTEP_SOURCE_DIR) / "examples/own_table/penguins.csv",
                folder.path() / "penguins.csv");
  train_well(
      "table", "a",
      {"data.path=penguins.csv", "data.target=species", "data.without=year", "precision=bf16"});
  EXPECT_EQ(graphs("a").value("shapes", 0), 1);
  EXPECT_GT(accuracy("a"), 0.9);
  expect_same_predictions("a", "penguins.csv", 344);
}

struct ImagesOnGpus : ExamplesOnGpus {
  ImagesOnGpus() : ExamplesOnGpus("own-images") {}
};

TEST_P(ImagesOnGpus, LearnsInAGraphAndItsTrunkServesForOtherClasses) {
  train_well("images", "base",
             {"norm.statistics=sync", "norm.rows=12", "stop.epochs=20", "optimizer.lr=3e-3",
              "model.width=16", "data.size=48", "precision=bf16"});
  EXPECT_EQ(graphs("base").value("shapes", 0), 1);
  EXPECT_GT(accuracy("base"), 0.9);
  const fs::path shapes = folder.path() / "runs/.cache/shapes";
  fs::create_directory(folder.path() / "other");
  for (const char* shape : {"circle", "square"})
    fs::copy(shapes / shape, folder.path() / "other" / shape);
  train_well("images", "head",
             {"data.path=other", "init.from=base", "init.missing=fc.*", "train.freeze=*,!fc.*",
              "norm.statistics=frozen", "stop.epochs=10", "optimizer.lr=1e-2",
              "optimizer.groups=fc.bias: lr_factor=2 weight_decay=0", "model.width=16",
              "data.size=48", "precision=bf16"});
  EXPECT_EQ(graphs("head").value("shapes", 0), 1);
  EXPECT_GT(accuracy("head"), 0.9);
  expect_same_predictions("head", "other/circle", 100);
}

std::string on(const ::testing::TestParamInfo<std::size_t>& info) {
  return "On" + std::to_string(info.param);
}
INSTANTIATE_TEST_SUITE_P(Gpus, TableOnGpus, ::testing::Values(1, 2), on);
INSTANTIATE_TEST_SUITE_P(Gpus, ImagesOnGpus, ::testing::Values(1, 2), on);

}  // namespace
}  // namespace lockstep
