// Folders as people name them, with logs of other programs in or below them.
#include "tools/report/logs/log_folders.h"

#include "report_fixtures.h"

#include <cmath>
#include <fstream>
#include <tuple>
#include <vector>

#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "fakes/error_of.h"
#include "runtime/run/formats/tensorboard_records.h"
#include "tools/report/comparison/trial_source.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::HasSubstr;

class LogFolders : public ::testing::Test {
 protected:
  void write(const fs::path& file, const std::string& text) {
    fs::create_directories((folder.path() / file).parent_path());
    std::ofstream(folder.path() / file, std::ios::binary) << text;
  }

  // Ten steps of a second each, with the values first, first - 0.1, …
  void events(const fs::path& below, const std::string& tag, double first = 2) {
    std::string text = tensorboard_version(100);
    for (int step = 0; step < 10; ++step) {
      const std::vector<TensorboardScalar> scalars{{tag, first - 0.1 * step}};
      text += tensorboard_scalars(100 + step, step, scalars);
    }
    write(below / "events.out.tfevents.1.host", text);
  }

  Trial read(const fs::path& below) {
    return read_trial((folder.path() / below).string(), folder.path() / "runs");
  }
  std::string refused(const fs::path& below) {
    return error_of([&] { read(below); });
  }
  static double best(const Trial& trial, const std::string& name) {
    const Quantity* const quantity = trial.find("best." + name);
    return quantity == nullptr ? NAN : quantity->value;
  }

  const TemporaryDirectory folder;
};

TEST_F(LogFolders, TrainAndValidationOfKerasAreOneRun) {
  events("keras/train", "epoch_loss", 2);
  events("keras/validation", "epoch_loss", 3);
  const Trial trial = read("keras");
  EXPECT_EQ(trial.name, "keras");
  EXPECT_EQ(trial.number("epochs"), 9);
  EXPECT_NEAR(best(trial, "train/epoch_loss"), 1.1, 1e-6);
  EXPECT_NEAR(best(trial, "validation/epoch_loss"), 2.1, 1e-6);
  EXPECT_EQ(trial.metric, "loss");
  EXPECT_NEAR(trial.curve.at(0).value, 3, 1e-6) << "the validation's";
  EXPECT_EQ(read("keras/train").number("epochs"), 9) << "one of them alone, too";
}

TEST_F(LogFolders, LinesOfAddScalarsAreOneRun) {
  events("torch", "lr", 1);
  events("torch/val_loss_a b", "val/loss", 3);
  events("torch/val_loss_c", "val/loss", 4);
  events("x", "lr", 1);
  events("x/val/loss/a b", "val/loss", 3);  // as tensorboardX names them
  events("x/val/loss/c", "val/loss", 4);
  for (const char* name : {"torch", "x"}) {
    const Trial trial = read(name);
    EXPECT_NEAR(best(trial, "val/loss/a b"), 2.1, 1e-6) << name;
    EXPECT_NEAR(best(trial, "val/loss/c"), 3.1, 1e-6) << name;
    EXPECT_NE(trial.find("last.lr"), nullptr) << name;
  }
}

TEST_F(LogFolders, ALogOfLightningIsFoundBelow) {
  write("a/lightning_logs/version_0/metrics.csv",
        "epoch,step,train_loss,val_loss\n0,9,1.5,\n0,9,,1.4\n1,19,1.2,\n1,19,,1.1\n");
  write("a/lightning_logs/version_0/hparams.yaml", "lr: 0.1\nlayers:\n- 1\ndata_dir: /x\n");
  for (const char* place : {"a", "a/lightning_logs", "a/lightning_logs/version_0"}) {
    const Trial trial = read(place);
    EXPECT_EQ(trial.name, fs::path(place).filename().string());
    EXPECT_EQ(best(trial, "val_loss"), 1.1);
    EXPECT_EQ(trial.value("param.lr"), 0.1);
    EXPECT_TRUE(trial.paths.contains("param.data_dir"));
  }
}

TEST_F(LogFolders, OfSeveralNoneIsTakenAndAllAreNamed) {
  events("b/lightning_logs/version_0", "val_loss");
  events("b/lightning_logs/version_1", "val_loss");
  EXPECT_THAT(refused("b"), AllOf(HasSubstr("lightning_logs/version_0, lightning_logs/version_1"),
                                  HasSubstr("name one of them")));
}

TEST_F(LogFolders, TransformersLogsAreFound) {
  const std::string state =
      R"({"log_history":[{"epoch":1.0,"step":4,"loss":2.0},{"epoch":2.0,"step":8,"loss":1.0}]})";
  write("one/checkpoint-8/trainer_state.json", state);
  events("one/runs/Jan31_09-30-00_host", "train/loss");
  EXPECT_NE(read("one").find("step_s"), nullptr) << "its events have times";
  write("two/trainer_state.json", state);
  events("two/runs/Jan31_09-30-00_host", "train/loss");
  events("two/runs/Jan31_10-30-00_host", "train/loss");
  EXPECT_EQ(read("two").source, "Transformers log") << "it was started twice";
  write("resumed/checkpoint-8/trainer_state.json", state);
  events("resumed/runs/Jan31_09-30-00_host", "train/loss");
  events("resumed/runs/Jan31_10-30-00_host", "train/loss");
  EXPECT_EQ(best(read("resumed/"), "loss"), 1) << "its checkpoint has both starts";
  write("three/checkpoint-4/trainer_state.json", R"({"log_history":[{"step":4,"loss":2.0}]})");
  write("three/checkpoint-8/trainer_state.json", state);
  const Trial trial = read("three");
  EXPECT_EQ(best(trial, "loss"), 1);
  EXPECT_THAT(trial.cautions, Contains(HasSubstr("checkpoint-8")));
  EXPECT_EQ(best(read("three/checkpoint-4"), "loss"), 2);
}

TEST_F(LogFolders, AStoreBelowIsFound) {
  write("project/mlruns/1/meta.yaml", "experiment_id: '1'\nname: mine\n");
  write("project/mlruns/1/ab/meta.yaml", "run_id: ab\nrun_name: only\nlifecycle_stage: active\n");
  write("project/mlruns/1/ab/metrics/loss", "1000 2 1\n2000 1 2\n");
  EXPECT_EQ(read("project").name, "only");
}

TEST_F(LogFolders, AFileThatIsNoLogIsSaidToBeWhatItIs) {
  for (const auto& [name, text, kind] :
       std::vector<std::tuple<const char*, std::string, const char*>>{
           {"log.csv.gz", "\x1f\x8b\x08", "is a gzip archive"},
           {"log.parquet", "PAR1", "is a Parquet file"},
           {"log.txt", "epoch 1: loss 3\n", "is text whose name ends in .txt"},
           {"log", "loss 3\n", "is text without an ending in its name"},
           {"history", "{\"loss\": 1}\n", "is JSON"},
           {"model.pt", "PK\x03\x04", "is a zip archive"},
           {"x.safetensors", std::string("\x02\0\0\0\0\0\0\0{}", 10), "is a safetensors file"},
           {"x.bin", std::string("a\0b", 3), "is no text: byte 2 is NUL"},
           {"empty", "", "is empty"}}) {
    write(name, text);
    EXPECT_THAT(refused(name), AllOf(HasSubstr(kind), HasSubstr("looked for a log (.csv, ")));
  }
}

TEST_F(LogFolders, WhereNothingLiesItIsSaidWhatWasLookedFor) {
  write("empty/deep/notes.txt", "nothing");
  write("runs/mine/run.json", "{}");
  events("runs/mine/tensorboard", "train/loss");
  for (const char* place : {"empty", "runs"})
    EXPECT_THAT(refused(place),
                AllOf(HasSubstr("holds no log that is known"), HasSubstr("events.out.tfevents")))
        << "what Lockstep's own runs hold are no logs of others";
}

}  // namespace
}  // namespace lockstep
