// The answers to names of other programs.
#include "tools/cli/words/foreign_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "fakes/error_of.h"
#include "planning/direct_recipe.h"
#include "planning/options/no_effect.h"
#include "planning/recipe_info.h"
#include "runtime/run/folder/run_dir.h"
#include "tools/cli/words/translation/name_words.h"
#include "tools/cli/words/vocabulary.h"

namespace lockstep::cli {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

struct NamedOptions : RecipeOptions {
  NamedOptions() {
    table.add("data.things", things, {.meaning = "how many things"});
    table.add("data.rate", rate, {.meaning = "of the trunk, times optimizer.lr"});
    table.add("data.path", path, {.meaning = "of a trunk"});
    table.add("predict.symbols", symbols, {.meaning = "which are written"});
    table.add("predict.out", out, {.meaning = "where they go"});
    table.add("predict.seed", draws, {.meaning = "of the symbols"});
    table.add("data.width", width, {.meaning = "of a trunk without data.path"});
    table.add("evaluate.rounds", rounds, {.meaning = "numbers of them"});
    table.add_synonyms(
        {{.names = {"num_things"}, .from = "scripts", .ours = "data.things={value}"},
         {.names = {"num_rounds", "rounds"},
          .from = "scripts",
          .ours = "data.things={value}",
          .note = "of training",
          .in_command = {{"evaluate", "evaluate.rounds={value}", "several, 1,2,3"}}},
         {.names = {"learning_rate1"}, .from = "", .ours = "data.rate={value}/optimizer.lr"},
         {.names = {"learning_rate2"}, .from = "", .ours = "optimizer.lr={value}"},
         {.names = {"model_name"}, .from = "", .ours = "data.path={path}"},
         {.names = {"label_list"}, .from = "", .ours = "predict.symbols={value}"},
         {.names = {"label"},
          .from = "",
          .ours = "predict.symbols={value}",
          .beside = {"model_name", "data.path"},
          .ours_alone = "data.path={path}"},
         {.names = {"data_dir", "data_folder"}, .from = "", .ours = "data.path={value}"},
         {.names = {"train_file"},
          .from = "",
          .ours = "data.path={value}",
          .folders = {"data_dir", "data_folder"}},
         {.names = {"warmup_ratio"}, .from = "", .ours = "schedule.warmup={value}*stop.epochs"},
         {.names = {"warm_up"},
          .from = "",
          .ours = "schedule.unit=epochs schedule.warmup={value}*stop.epochs"},
         {.names = {"hidden_size"}, .from = "", .ours = "data.width={value}"}});
    table.add_preset({"contest",
                      "for tests",
                      {{"batch.global", "64"}, {"batch.micro", "16"}, {"schedule.period", "10"}}});
    table.add_preset({"counted", "for tests", {{"stop.steps", "100"}}});
  }
  void defaults(TrainOptions& train, bool) const override { train.batch.global = 8; }
  void check(const TrainOptions&) const override {
    if (things > 50)
      throw Error(cat("data.things is ", things, ", but at most 50 fit"), "take 50 or fewer");
    if (!path.empty()) check_no_effect(table, "data.path has one", {"data.width"});
  }
  std::int64_t things = 3, width = 8, draws = 0;
  double rate = 0;
  std::string path, symbols, out, rounds;
};

// Whose micro-batch counts other things than samples.
struct RowsOptions : RecipeOptions {
  RowsOptions() {
    table.add("data.mode", mode, {.meaning = "of reading"});
    table.add_synonyms(
        {{.names = {"batch_size"}, .from = "scripts", .ours = "batch.global={total}"},
         {.names = {"gradient_accumulation_steps"},
          .from = "scripts",
          .ours = "",
          .note = "it follows"}});
  }
  std::string mode;
};

struct NamedDirect : DirectOptions {
  NamedDirect() {
    table.add("learning_rate", rate, {.meaning = "what each tree counts"});
    table.add("data.path", path, {.meaning = "files"});
    table.add("symbols", symbols, {.meaning = "which"});
    table.add("names", names, {.meaning = "several"});
    table.add_synonyms(
        {{.names = {"eta"}, .from = "LightGBM", .ours = "learning_rate={value}"},
         {.names = {"data_dir"}, .from = "scripts", .ours = "data.path={value}"},
         {.names = {"tickers"}, .from = "scripts", .ours = "symbols={value} data.path=DIR"}});
  }
  DirectResult train(const DirectContext&) const override { return {}; }
  void check() const override {
    if (rate > 1) throw Error("learning_rate is above 1");
  }
  double rate = 0.1;
  std::string symbols;
  std::vector<std::string> path, names;
};

class ForeignNames : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    register_recipe({.name = "named", .summary = "for tests", .make_options = [] {
                       return std::make_unique<NamedOptions>();
                     }});
    register_recipe({.name = "rows", .summary = "for tests", .make_options = [] {
                       return std::make_unique<RowsOptions>();
                     }});
    register_direct_recipe({.name = "named-direct", .summary = "for tests", .make_options = [] {
                              return std::make_unique<NamedDirect>();
                            }});
  }

  static Command planner() {
    return {.name = "plan",
            .operands = "RECIPE",
            .flags = {{"--devices", "LIST", "which"}, {"--json", "", "as JSON"}},
            .min_positionals = 1,
            .max_positionals = 1,
            .takes_assignments = true};
  }
  static std::string refusal(const std::vector<std::string>& words) {
    return error_of([&] { parse(planner(), words); });
  }
  static std::string key_refusal(const std::string& recipe, std::vector<std::string> words,
                                 std::size_t devices) {
    const std::string& word = words.back();
    const auto error = explain_keys(recipe, words, gpus(devices))(word.substr(0, word.find('=')),
                                                                  word.substr(word.find('=') + 1));
    return error ? std::string(error->what()) + " | " + error->hint() : "nothing";
  }
  static std::vector<Device> gpus(std::size_t count) {
    Device gpu;
    gpu.kind = DeviceKind::cuda;
    return std::vector<Device>(count, gpu);
  }
  // For words of `train`, on a machine with two devices.
  static std::string hint(const std::vector<std::string>& words, const FlagsHere& flags = {}) {
    const std::string& word = words.back();
    const auto error = explain_keys("named", words, gpus(2), flags)(
        word.substr(0, word.find('=')), word.substr(word.find('=') + 1));
    return error ? error->hint() : "nothing";
  }
};

TEST_F(ForeignNames, AListTakesAllWordsBehindItsFlag) {
  Command batch{.name = "batch named-direct",
                .operands = "[key=value …]",
                .flags = {{"--slots", "N", "at once"}, {"--name", "NAME", "of the batch"}},
                .takes_assignments = true};
  const auto refused = [&](const std::vector<std::string>& words) {
    return error_of([&] { parse(batch, words); });
  };
  EXPECT_THAT(refused({"--names", "A", "B", "C", "--name", "g"}), HasSubstr("| write names=A,B,C"));
  EXPECT_THAT(refused({"names=A", "B", "C"}), HasSubstr("| write names=A,B,C: the values"));
  EXPECT_THAT(refused({"--symbols", "A", "B"}), HasSubstr("| write symbols=A"));
  EXPECT_THAT(refused({"--max-failure-rate", "0.1"}),
              HasSubstr("set max_failure_rate = 0.1 there"));
}

TEST_F(ForeignNames, FlagsAndKeysOfJobFilesAreNoOptions) {
  const FlagsHere flags{.names = {"--slots", "--devices"}};
  EXPECT_EQ(hint({"timeout=600"}), "nothing");
  EXPECT_THAT(hint({"timeout=600"}, flags), HasSubstr("set timeout = 600 there"));
  const auto error =
      explain_keys("named-direct", {"devices=0,1"}, gpus(2), flags)("devices", "0,1");
  ASSERT_TRUE(error);
  EXPECT_EQ(error->hint(), "write --devices 0,1");
}

TEST_F(ForeignNames, AFlagIsTranslatedWithItsValue) {
  for (const std::vector<std::string>& flag :
       {std::vector<std::string>{"--batch_size", "16"}, {"--batch-size=16"}, {"BATCH_SIZE=16"}}) {
    std::vector<std::string> words{"named", "--devices", "2xT4"};
    words.insert(words.end(), flag.begin(), flag.end());
    EXPECT_THAT(refusal(words), HasSubstr("| write batch.global=32 batch.micro=16: batch.global "
                                          "is of 2 devices together; for a script that used one "
                                          "GPU, batch.global=16 and no other batch.* train"))
        << flag[0];
  }
  EXPECT_THAT(refusal({"--fp16", "named"}), HasSubstr("plan has no flag --fp16 | write "
                                                      "precision=fp16"));
  EXPECT_THAT(refusal({"named", "--device", "cuda:1"}), HasSubstr("| write --devices 1 ("));
}

TEST_F(ForeignNames, OneMessageTranslatesTheWholeLine) {
  EXPECT_THAT(refusal({"named", "--batch_size", "16", "--gradient_accumulation_steps=4", "lr=5e-4",
                       "--devices=2xT4", "--json", "stop.steps=3", "--seed", "7"}),
              HasSubstr("| write batch.global=128 batch.micro=16 batch.accumulation=4 "
                        "optimizer.lr=5e-4 seed=7: batch.global"));
  EXPECT_EQ(key_refusal("named", {"epochs=3", "num_things=4"}, 2),
            "num_things is not an option; it is a name of scripts | write stop.epochs=3 "
            "data.things=4");
}

TEST_F(ForeignNames, ARecipesOwnNamesComeFirst) {
  EXPECT_THAT(key_refusal("named", {"learning_rate=0.1"}, 0),
              HasSubstr("| write optimizer.lr=0.1"));
  EXPECT_THAT(key_refusal("named-direct", {"eta=0.1"}, 0), HasSubstr("| write learning_rate=0.1"));
  EXPECT_THAT(key_refusal("named-direct", {"seed=1"}, 0),
              HasSubstr("seed is an option of the engine, without which named-direct trains"));
  EXPECT_EQ(key_refusal("named-direct", {"batch_size=1"}, 0), "nothing");
  EXPECT_THAT(key_refusal("named-direct", {"data.things=1"}, 0),
              HasSubstr("data.things is an option of the recipe"));
}

TEST_F(ForeignNames, AnOwnOptionInAGroupIsMeantRatherThanOneOfAnotherRecipe) {
  EXPECT_EQ(key_refusal("named", {"symbols=a"}, 0),
            "symbols is not an option | did you mean predict.symbols?");
  EXPECT_THAT(key_refusal("rows", {"symbols=a"}, 0),
              HasSubstr("symbols is an option of the recipe"));
}

TEST_F(ForeignNames, TheBatchIsOfTheDevicesThatAreNamed) {
  EXPECT_THAT(hint({"batch_size=16", "gpus=1"}),
              HasSubstr("write batch.global=16 batch.micro=16 --devices 0: batch.global is of 1 "
                        "device ("));
  EXPECT_THAT(hint({"gpus=[0, 1, 2]", "batch_size=16"}), HasSubstr("batch.global=48 "));
  EXPECT_THAT(hint({"device=auto", "batch_size=16"}), HasSubstr("batch.global=32 "));
  EXPECT_THAT(hint({"gpu_id=GPU-none", "batch_size=16"}), HasSubstr("batch.global=16xDEVICES "));
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"batch_size=16", "gpus=2"}, {"batch_size=16", "gpus=1"}})
    EXPECT_THAT(hint(words), Not(HasSubstr("a script that used one")));
}

TEST_F(ForeignNames, AScriptOnOneGpuKeepsItsBatch) {
  EXPECT_THAT(hint({"batch_size=1"}), HasSubstr("batch.global=2 batch.micro=1: batch.global is of "
                                                "2 devices together; for a script that used one "
                                                "GPU, batch.global=1 and no other batch.*"));
  EXPECT_THAT(hint({"grad_accum=4", "batch_size=16"}),
              AllOf(HasSubstr("write batch.global=128 "), HasSubstr("GPU, batch.global=64 and")));
  EXPECT_THAT(key_refusal("named", {"batch_size=16"}, 0), HasSubstr("GPU, batch.global=16 and"));
  EXPECT_THAT(key_refusal("named", {"batch_size=16"}, 1), Not(HasSubstr("used one")));
  EXPECT_THAT(hint({"effective_batch_size=128"}), Not(HasSubstr("used one")));
  EXPECT_THAT(hint({"device=cuda", "batch_size=1"}), HasSubstr("GPU, batch.global=1 and"));
}

TEST_F(ForeignNames, AKindOfGpuIsWrittenWhereItIsTaken) {
  EXPECT_THAT(hint({"accelerator=GPU T4 x 2"}), HasSubstr("write --devices all ("));
  EXPECT_THAT(refusal({"named", "--accelerator", "GPU T4 x 2"}),
              HasSubstr("| write --devices 'GPU T4 x 2' ("));
  EXPECT_THAT(refusal({"named", "--accelerator", "TPU v3-8"}), HasSubstr("| leave it out"));
}

TEST_F(ForeignNames, AValueIsDividedByTheOptionThatItIsAMultipleOf) {
  EXPECT_EQ(hint({"learning_rate2=1e-3", "learning_rate1=1e-5"}),
            "write optimizer.lr=1e-3 data.rate=0.01");
  EXPECT_EQ(hint({"learning_rate1=1e-5", "learning_rate2=1e-4"}),
            "write data.rate=0.1 optimizer.lr=1e-4");
  EXPECT_EQ(hint({"optimizer.lr=1e-3", "learning_rate1=2e-5"}), "write data.rate=0.02");
  EXPECT_EQ(hint({"learning_rate1=fast"}), "write data.rate=FACTOR");
}

TEST_F(ForeignNames, AShareIsMultipliedByTheOptionThatItIsAShareOf) {
  EXPECT_EQ(hint({"stop.epochs=4", "warmup_ratio=0.1"}), "write schedule.warmup=0.4");
  EXPECT_EQ(hint({"epochs=2", "warmup_ratio=0.1"}), "write stop.epochs=2 schedule.warmup=0.2");
}

TEST_F(ForeignNames, AShareIsOfTheStepsThatEndTheRun) {
  EXPECT_EQ(hint({"max_steps=400", "warm_up=0.1"}), "write stop.steps=400 schedule.warmup=40");
  EXPECT_EQ(hint({"stop.steps=400", "stop.epochs=2", "warm_up=0.1"}), "write schedule.warmup=40");
  EXPECT_EQ(hint({"stop.epochs=2", "warm_up=0.1"}),
            "write schedule.unit=epochs schedule.warmup=0.2");
}

TEST_F(ForeignNames, CheckpointsEachSoManyStepsAreNoTime) {
  for (const char* name : {"checkpoint_every", "save_checkpoint_every", "checkpoint_freq"})
    EXPECT_THAT(hint({cat(name, "=1000")}), HasSubstr("write checkpoint.every_steps=1000 (steps; "))
        << name;
  EXPECT_EQ(hint({"save_every_n_steps=1000"}), "write checkpoint.every_steps=1000");
  EXPECT_EQ(hint({"val_every=2"}),
            "write eval.every_steps=2 (steps; eval.every_epochs counts epochs)");
}

TEST_F(ForeignNames, ALengthThatIsTypedSetsAsideTheOtherOne) {
  EXPECT_EQ(hint({"preset=counted", "epochs=3"}), "write stop.epochs=3 stop.steps=0");
  EXPECT_EQ(hint({"preset=counted", "epochs=2", "warm_up=0.1"}),
            "write stop.epochs=2 stop.steps=0 schedule.unit=epochs schedule.warmup=0.2");
  EXPECT_EQ(hint({"preset=counted", "stop.steps=50", "epochs=3"}), "write stop.epochs=3");
  EXPECT_EQ(hint({"epochs=3", "max_steps=50"}),
            "write stop.epochs=3 stop.steps=50 (steps of the optimizer)");
  EXPECT_EQ(hint({"epochs=3"}), "write stop.epochs=3");
  EXPECT_EQ(hint({"preset=counted", "epochs=0"}), "write stop.epochs=0") << "a run has a length";
}

// One schedule.unit counts all lengths.
TEST_F(ForeignNames, LengthsOfAScheduleInTwoUnitsContradictEachOther) {
  EXPECT_EQ(hint({"warm_up=0.1", "stop.epochs=3", "warmup_steps=5"}),
            "write schedule.warmup=5; warm_up=0.1 counts epochs here and warmup_steps=5 steps, but "
            "schedule.unit is one for both; warmup_steps=5 counts");
  for (const std::vector<std::string>& ours : {std::vector<std::string>{"schedule.warmup=5"},
                                               {"schedule.every=500", "schedule.kind=step"},
                                               {"schedule.unit=steps"}}) {
    std::vector<std::string> line = ours;
    line.emplace_back("warm_up=0.1");
    EXPECT_THAT(hint(line),
                AllOf(HasSubstr("leave it out; warm_up=0.1 counts epochs here and " + ours[0]),
                      Not(HasSubstr("write schedule.unit"))))
        << ours[0];
  }
  EXPECT_THAT(hint({"schedule.unit=epochs", "warmup_steps=100"}),
              HasSubstr("warmup_steps=100 counts steps here and schedule.unit=epochs epochs"));
  EXPECT_EQ(hint({"schedule.unit=epochs", "stop.epochs=3", "warm_up=0.1"}),
            "write schedule.warmup=0.3");
  EXPECT_EQ(hint({"stop.epochs=3", "warm_up=0.1", "warmup_epochs=0"}),
            "write schedule.unit=epochs schedule.warmup=0; warm_up=0.1 and warmup_epochs=0 both "
            "mean schedule.warmup; warmup_epochs=0 counts");
  EXPECT_EQ(hint({"schedule.warmup=0", "warm_up=0.1"}),
            "leave it out: schedule.warmup=0 is set already and counts");
}

TEST_F(ForeignNames, ANameCanMeanAnotherThingAlone) {
  EXPECT_EQ(hint({"label=bert"}), "write data.path=bert");
  EXPECT_EQ(hint({"model_name=bert", "label=mine"}), "write data.path=bert predict.symbols=mine");
  EXPECT_EQ(hint({"data.path=bert", "label=mine"}), "write predict.symbols=mine");
}

TEST_F(ForeignNames, AFileLiesInTheFolderThatTheLineNames) {
  EXPECT_EQ(hint({"data_dir=./data/", "train_file=a.jsonl"}), "write data.path=./data/a.jsonl");
  EXPECT_EQ(hint({"train_file=a.jsonl", "data_dir=./data"}), "write data.path=./data/a.jsonl");
  EXPECT_EQ(hint({"train_file=data/a.jsonl", "data_dir=./data"}), "write data.path=data/a.jsonl");
  EXPECT_EQ(hint({"data_dir=data", "train_file=/a.jsonl"}),
            "write data.path=/a.jsonl; data_dir=data and train_file=/a.jsonl both mean data.path; "
            "train_file=/a.jsonl counts");
  EXPECT_EQ(hint({"train_file=a.jsonl"}), "write data.path=a.jsonl");
  // The file stays where the folders contradict it or each other, in any order.
  EXPECT_EQ(hint({"train_file=/a.jsonl", "data_dir=data"}),
            "write data.path=/a.jsonl; train_file=/a.jsonl and data_dir=data both mean data.path; "
            "train_file=/a.jsonl counts");
  EXPECT_EQ(hint({"train_file=t.jsonl", "data_dir=a", "data_folder=b"}),
            "write data.path=b/t.jsonl; train_file=t.jsonl and data_dir=a both mean data.path; "
            "train_file=t.jsonl counts");
}

TEST_F(ForeignNames, WhatHasNoEffectBesideTheRestIsLeftOut) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"hidden_size=768", "model_name=bert", "lr=1"},
        {"model_name=bert", "hidden_size=768", "lr=1"}})
    EXPECT_EQ(hint(words),
              "write data.path=bert optimizer.lr=1; leave out hidden_size: data.width "
              "has no effect: data.path has one");
  EXPECT_EQ(hint({"hidden_size=768", "lr=1"}), "write data.width=768 optimizer.lr=1");
  EXPECT_EQ(hint({"data.path=bert", "hidden_size=768"}),
            "leave out hidden_size: data.width has no effect: data.path has one");
}

TEST_F(ForeignNames, NoValueIsWrittenThatTheRecipeRefuses) {
  EXPECT_EQ(hint({"lr=1", "num_things=99"}),
            "write optimizer.lr=1; num_things=99 is refused: data.things is 99, but at most 50 "
            "fit; take 50 or fewer");
  EXPECT_EQ(hint({"num_things=99"}),
            "num_things=99 is refused: data.things is 99, but at most 50 fit; take 50 or fewer");
  EXPECT_EQ(key_refusal("named-direct", {"eta=7"}, 0),
            "eta is not an option; it is a name of LightGBM | eta=7 is refused: learning_rate is "
            "above 1");
  EXPECT_EQ(hint({"data.things=99", "lr=1"}), "write optimizer.lr=1") << "the line is refused";
  EXPECT_EQ(hint({"num_things=99"}, {.of_run = "resume"}), "write data.things=99")
      << "the run has options of its own";
}

TEST_F(ForeignNames, WithDataParallelABatchIsOfAllDevices) {
  EXPECT_EQ(hint({"data_parallel=True", "batch_size=2"}),
            "write --devices all batch.global=2 (with nn.DataParallel it is of all devices "
            "together, as batch.global is)");
  EXPECT_THAT(hint({"use_dp=1", "grad_accum=4", "batch_size=16"}),
              HasSubstr("write --devices all batch.global=64; leave out grad_accum ("));
  EXPECT_THAT(hint({"data_parallel=False", "batch_size=2"}),
              HasSubstr("write --devices 0 batch.global=2 batch.micro=2: batch.global is of 1"));
  EXPECT_THAT(hint({"use_ddp=True", "batch_size=2"}), HasSubstr("batch.global=4 batch.micro=2"));
}

TEST_F(ForeignNames, AScriptOnTheCpuWasOneProcess) {
  EXPECT_THAT(refusal({"named", "--gpu", "False", "--batch_size", "3"}),
              AnyOf(HasSubstr("for a script that used one process, batch.global=3 and no other"),
                    HasSubstr("batch.global is of 1 device")));
}

TEST_F(ForeignNames, DevicesThatAreGivenAreNotNamedAgain) {
  const FlagsHere given{.devices = "0"};
  EXPECT_EQ(hint({"gpus=2"}, given), "leave it out: --devices 0 is given");
  EXPECT_THAT(hint({"lr=1", "gpus=2"}, given),
              "write optimizer.lr=1; leave out gpus (--devices 0 is given)");
  EXPECT_THAT(refusal({"named", "--devices", "2xT4", "--gpus", "4", "lr=1"}),
              HasSubstr("| write optimizer.lr=1; leave out gpus (--devices 2xT4 is given)"));
  EXPECT_THAT(hint({"gpus=2"}), HasSubstr("write --devices 0,1 ("));
}

TEST_F(ForeignNames, AllNamesOfAFileAreTranslatedTogether) {
  const TemporaryDirectory folder;
  const std::string file = (folder.path() / "my.toml").string();
  write_file_atomic(file,
                    "seed = 3\n[training]\nbatch_size = 16\naccumulation_steps = 4\nlr = 5e-4\n"
                    "dtype = \"float16\"\npin_memory = true\n");
  const auto hint_in = [&](const FlagsHere& flags) {
    const auto error = explain_keys("named", {"stop.steps=3"}, gpus(2), flags, {file})(
        "training.batch_size", "16");
    return error ? error->hint() : "nothing";
  };
  EXPECT_EQ(
      hint_in({}),
      cat("write in ", file,
          ", in place of these names and above any [table]:\n"
          "batch.global = 128\nbatch.micro = 16\nbatch.accumulation = 4\n"
          "optimizer.lr = 0.0005\nprecision = \"fp16\"\n"
          "batch.global is of 2 devices together; for a script that used one "
          "GPU, batch.global=64 and no other batch.* train as it did\n"
          "leave out pin_memory\n"
          "(with one process per GPU, it is the batch of each GPU; with nn.DataParallel it is "
          "of all GPUs, as batch.global is; batch.micro may be left out)"));
  const std::string json = (folder.path() / "my.json").string();
  write_file_atomic(json, R"({"lr": 5e-4, "dtype": "float16"})");
  EXPECT_EQ(explain_keys("named", {}, gpus(2), {}, {json})("lr", "")->hint(),
            cat("write in ", json,
                ", in place of these names, at the top level:\n\"optimizer.lr\": 0.0005,\n"
                "\"precision\": \"fp16\""));
  write_file_atomic(file, "gpus = [0, 1]\n");
  const auto error = explain_keys("named", {}, gpus(2), flags_here(planner()), {file})("gpus", "");
  ASSERT_TRUE(error);
  EXPECT_THAT(error->hint(), HasSubstr("leave it out of the file, and write --devices 2 on the "
                                       "command line"));
}

TEST_F(ForeignNames, ValuesThatAnOptionWouldRefuseAreLeftOpen) {
  EXPECT_EQ(hint({"scheduler=CosineAnnealingLR"}), "write schedule.kind=cosine");
  EXPECT_EQ(hint({"preset=contest", "scheduler=CosineAnnealingWarmRestarts"}),
            "write schedule.kind=cosine_restarts");
  EXPECT_EQ(hint({"scheduler=CosineAnnealingWarmRestarts", "T_0=10"}),
            "write schedule.kind=cosine_restarts schedule.unit=epochs schedule.period=10");
  EXPECT_EQ(hint({"scheduler=CosineAnnealingWarmRestarts"}),
            "write schedule.kind=cosine_restarts schedule.period=VALUE");
  EXPECT_THAT(hint({"scheduler=ReduceLROnPlateau"}),
              HasSubstr("write schedule.kind=VALUE; schedule.kind must be one of constant"));
  EXPECT_THAT(hint({"mixed_precision=True"}), HasSubstr("write precision=auto"));
  EXPECT_EQ(hint({"mixed_precision=False"}), "write precision=fp32");
  EXPECT_EQ(hint({"mixed_precision=no"}), "write precision=fp32");
  EXPECT_THAT(hint({"lr=fast"}), HasSubstr("write optimizer.lr=VALUE; optimizer.lr must be"));
  EXPECT_THAT(hint({"NCCL_TIMEOUT=1800"}), HasSubstr("write stop.hang_after=1800"));
}

TEST_F(ForeignNames, TheSizesOfABatchAgree) {
  EXPECT_THAT(hint({"effective_batch_size=128", "batch_size=16"}),
              HasSubstr("write batch.global=128 batch.micro=16 ("));
  EXPECT_THAT(hint({"effective_batch=100", "batch_size=16"}),
              HasSubstr("write batch.global=100; leave out batch_size ("));
  EXPECT_THAT(hint({"global_batch_size=128", "batch_size=16", "grad_accum=2"}),
              HasSubstr("write batch.global=128 batch.micro=16; leave out grad_accum"));
  EXPECT_THAT(hint({"batch.global=64", "batch_size=16"}), HasSubstr("write batch.micro=16 ("));
  EXPECT_EQ(hint({"batch.global=6", "grad_accum=4"}), "leave it out");
}

TEST_F(ForeignNames, TheBatchHasTheAccumulationOfThePreset) {
  EXPECT_THAT(hint({"preset=contest", "BATCH_SIZE_PER_GPU=12"}),
              HasSubstr("write batch.global=48 batch.micro=12"));
  EXPECT_THAT(hint({"preset=contest", "GRADIENT_ACCUMULATION_STEPS=4"}),
              HasSubstr("write batch.global=128 batch.accumulation=4"));
  EXPECT_EQ(hint({"gradient_accumulation_steps=4"}), "write batch.accumulation=4");
  EXPECT_THAT(hint({"batch.accumulation=4", "batch_size=16"}),
              HasSubstr("write batch.global=128 batch.micro=16"));
}

TEST_F(ForeignNames, AScriptOnOneGpuDidNotAccumulateAsThePresetDoes) {
  EXPECT_THAT(hint({"preset=contest", "BATCH_SIZE_PER_GPU=12"}),
              HasSubstr("for a script that used one GPU, batch.global=12 and no other batch.*"));
  EXPECT_THAT(hint({"preset=contest", "BATCH_SIZE_PER_GPU=12", "ACCUMULATION_STEPS=3"}),
              HasSubstr("for a script that used one GPU, batch.global=36 and no other batch.*"));
  EXPECT_THAT(hint({"batch.accumulation=4", "batch_size=16"}),
              HasSubstr("for a script that used one GPU, batch.global=64 and no other batch.*"));
}

TEST_F(ForeignNames, ARecipeWhoseMicroBatchCountsOtherThingsIsToldTheBatchAlone) {
  EXPECT_THAT(refusal({"rows", "--batch_size", "1", "--gradient_accumulation_steps", "4",
                       "--devices", "2xT4"}),
              HasSubstr("| write batch.global=8: batch.global is of 2 devices together; for a "
                        "script that used one GPU, batch.global=4 and no other batch.* train as it "
                        "did; leave out gradient_accumulation_steps"));
}

TEST_F(ForeignNames, AnUnknownNameDoesNotHideTheOthers) {
  EXPECT_EQ(key_refusal("named", {"batch_size=16", "wombat=3"}, 2),
            "wombat is not an option | write batch.global=32 batch.micro=16: batch.global is of 2 "
            "devices together; for a script that used one GPU, batch.global=16 and no other "
            "batch.* train as it did; leave out wombat");
  EXPECT_EQ(key_refusal("named", {"wombat=3"}, 2), "nothing");
  EXPECT_THAT(refusal({"named", "--wombat", "3", "--lr", "0.1", "--devices", "2xT4"}),
              HasSubstr("plan has no flag --wombat | write optimizer.lr=0.1; leave out --wombat"));
  const auto error = with_name_of("named", explain_keys("named", {}, {}))("wombat", "3");
  ASSERT_TRUE(error);
  EXPECT_EQ(error->hint(), "`lockstep config named` lists all options");
}

TEST_F(ForeignNames, WhatHasNoCounterpartIsLeftOutForAReason) {
  EXPECT_THAT(hint({"pin_memory=True"}), HasSubstr("leave it out: loader threads always stay"));
  EXPECT_THAT(hint({"backend=nccl"}), HasSubstr("leave it out: GPUs communicate through NCCL"));
  EXPECT_THAT(hint({"MASTER_PORT=29500"}), HasSubstr("leave it out: "));
  EXPECT_THAT(hint({"use_multi_gpu=True"}), HasSubstr("write --devices all ("));
  EXPECT_THAT(hint({"num_replicas=2"}), HasSubstr("write --devices 0,1 ("));
}

TEST_F(ForeignNames, WhatIsOffIsLeftOut) {
  EXPECT_EQ(hint({"auto_resume=False"}), "leave it out");
  EXPECT_EQ(hint({"lr=1", "pretrained=False"}), "write optimizer.lr=1; leave out pretrained");
  EXPECT_EQ(hint({"max_steps=-1", "lr=1"}), "write optimizer.lr=1; leave out max_steps");
  EXPECT_THAT(hint({"num_workers=-1"}), HasSubstr("write data.threads=-1 ("));
  EXPECT_THAT(refusal({"named", "--max_epochs", "-1"}), HasSubstr("| leave it out"));
}

TEST_F(ForeignNames, TwoNamesOfOneSettingAreOneWord) {
  EXPECT_EQ(hint({"fp16=True", "bf16=False"}), "write precision=fp16");
  EXPECT_EQ(hint({"bf16=False", "fp16=True"}), "write precision=fp16");
  EXPECT_EQ(hint({"fp16=True", "amp=True"}).substr(0, 20), "write precision=fp16");
  EXPECT_THAT(hint({"accelerator=gpu", "devices=1"}), HasSubstr("write --devices 0 ("));
  EXPECT_THAT(hint({"accelerator=cpu", "devices=4"}), HasSubstr("write --devices cpu:4 ("));
  EXPECT_THAT(hint({"use_cuda=False", "devices=1"}), HasSubstr("write --devices cpu ("));
  EXPECT_THAT(hint({"gpu_id=3", "num_gpus=1"}), HasSubstr("write --devices 3 ("));
}

TEST_F(ForeignNames, TwoNamesThatContradictEachOtherAreNamed) {
  EXPECT_EQ(hint({"lr=1", "learning_rate=2"}),
            "write optimizer.lr=2; lr=1 and learning_rate=2 both mean optimizer.lr; "
            "learning_rate=2 counts");
  EXPECT_EQ(hint({"lr=1e-3", "learning_rate=0.001"}), "write optimizer.lr=0.001");
  EXPECT_EQ(hint({"lr=1", "lr=2"}), "write optimizer.lr=2") << "as argparse takes it";
  EXPECT_THAT(hint({"batch_size=16", "per_device_train_batch_size=8"}),
              AllOf(HasSubstr("write batch.global=16 batch.micro=8: "),
                    HasSubstr("; batch_size=16 and per_device_train_batch_size=8 both mean the "
                              "batch of a device; per_device_train_batch_size=8 counts")));
}

TEST_F(ForeignNames, SeveralGpusAndOneContradictEachOther) {
  EXPECT_THAT(hint({"use_multi_gpu=True", "gpu=2"}),
              HasSubstr("write --devices 2; use_multi_gpu=True and gpu=2 both mean --devices; "
                        "gpu=2 counts"));
  EXPECT_THAT(hint({"gpu=cuda:0", "ddp=True"}),
              HasSubstr("write --devices 0; gpu=cuda:0 and ddp=True both mean --devices; "
                        "gpu=cuda:0 counts"));
  EXPECT_THAT(hint({"gpu_id=3", "num_gpus=2"}), HasSubstr("both mean --devices; gpu_id=3 counts"));
  for (const std::vector<std::string>& words : {std::vector<std::string>{"ddp=True", "gpus=2"},
                                                {"ddp=False", "gpu=1"},
                                                {"accelerator=cpu", "devices=4"}})
    EXPECT_THAT(hint(words), Not(HasSubstr("both mean"))) << words[0];
}

TEST_F(ForeignNames, ValuesAreInOurWords) {
  EXPECT_EQ(hint({"torch_dtype=float16"}), "write precision=fp16");
  EXPECT_EQ(hint({"torch_dtype=bfloat16"}), "write precision=bf16");
  EXPECT_EQ(hint({"dtype=half"}), "write precision=fp16");
  EXPECT_EQ(hint({"dtype=float32"}), "write precision=fp32");
  EXPECT_EQ(hint({"mixed_precision=no"}), "write precision=fp32");
  for (const char* half : {"16-mixed", "16", "float16", "torch.float16", "half", "FP16"})
    EXPECT_THAT(refusal({"named", "--precision", half}), EndsWith("| write precision=fp16"));
  EXPECT_EQ(hint({"optim=adamw_torch_fused"}), "write optimizer.kind=adamw");
  EXPECT_THAT(hint({"optim=muon"}), HasSubstr("torch.optim.Muon has other defaults"));
  EXPECT_THAT(hint({"adjust_lr_fn=None"}), HasSubstr("write optimizer.muon_adjust_lr=original"));
  EXPECT_THAT(hint({"momentum=0.9"}), HasSubstr("muon's is optimizer.muon_momentum"));
  EXPECT_THAT(hint({"nesterov=True"}), HasSubstr("muon's is optimizer.muon_nesterov"));
  EXPECT_EQ(hint({"schedule.period=9", "lr_scheduler_type=cosine_with_restarts"}),
            "write schedule.kind=cosine_restarts");
  EXPECT_EQ(hint({"max_time=00:12:00:00"}), "write stop.after=12h");
  EXPECT_EQ(hint({"shuffle=False"}), "write data.shuffle=false");
  EXPECT_THAT(refusal({"named", "--shuffle"}), HasSubstr("| write data.shuffle=true"));
  EXPECT_THAT(refusal({"named", "--learning_rate"}), HasSubstr("| write optimizer.lr=VALUE"));
}

TEST_F(ForeignNames, OnlyFlagsThatTheCommandHasAreWritten) {
  EXPECT_EQ(hint({"run_name=x"}), "write --name x");
  EXPECT_EQ(hint({"run_name=x"}, flags_here(planner())), "leave it out");
  EXPECT_EQ(hint({"run_name=x", "lr=1"}, flags_here(planner())),
            "write optimizer.lr=1; leave out run_name");
  EXPECT_THAT(refusal({"named", "--run_name", "x"}), HasSubstr("| leave it out"));
}

TEST_F(ForeignNames, ACommandThatCountsDevicesIsToldTheirNumber) {
  EXPECT_THAT(refusal({"named", "--gpus", "4"}), HasSubstr("| write --devices 4 ("));
  EXPECT_THAT(refusal({"named", "--gpu", "0"}), HasSubstr("| write --devices 1 ("));
  EXPECT_THAT(refusal({"named", "--device", "cuda"}), HasSubstr("| leave it out: all GPUs"));
  EXPECT_THAT(refusal({"named", "--gpus", "T4x2"}), HasSubstr("| write --devices T4x2 ("));
  EXPECT_THAT(refusal({"named", "--gpus=2xT4"}), HasSubstr("| write --devices 2xT4 ("));
  EXPECT_THAT(hint({"gpus=T4x2"}), HasSubstr("write --devices all ("));
  EXPECT_THAT(hint({"gpu=0"}), HasSubstr("write --devices 0 ("));
  EXPECT_EQ(hint({"gpu_ids=[0,1]"}), "write --devices 0,1");
}

// There --devices 2 is the third GPU.
TEST_F(ForeignNames, ACommandThatCountsDevicesSaysWhatTrainingTakes) {
  EXPECT_THAT(refusal({"named", "--device_ids", "0,1"}),
              EndsWith("| write --devices 2 (lockstep train takes --devices 0,1)"));
  EXPECT_THAT(refusal({"named", "--gpus", "2"}),
              EndsWith("| write --devices 2 (all GPUs are the default; lockstep train takes "
                       "--devices 0,1)"));
  EXPECT_EQ(hint({"device_ids=0,1"}), "write --devices 0,1");
}

TEST_F(ForeignNames, ANameOfAGroupInAnotherProgramIsFoundWithItsDot) {
  EXPECT_THAT(hint({"batch.size=4"}), HasSubstr("write batch.global=8 batch.micro=4"));
  EXPECT_EQ(hint({"data.dir=x"}), "write data.path=x");
  // DeepSpeed's train_batch_size, of all devices, is never typed with a dot.
  EXPECT_THAT(hint({"train.batch_size=4"}), HasSubstr("write batch.global=8 batch.micro=4"));
  EXPECT_THAT(hint({"train_batch_size=4"}), HasSubstr("write batch.global=4"));
}

TEST_F(ForeignNames, AFileInPlaceOfAnOptionIsTheData) {
  EXPECT_THAT(refusal({"named", "train.txt"}),
              EndsWith("unexpected argument train.txt | write data.path=train.txt"));
  EXPECT_THAT(refusal({"named", "best.pth"}), EndsWith("| write init.from=best.pth"));
  EXPECT_THAT(refusal({"named", "mine.toml"}), Not(HasSubstr("data.path")));
  EXPECT_THAT(refusal({"named", "0.1"}), HasSubstr("| usage: ")) << "a number";
  EXPECT_THAT(refusal({"named", "data.path=a.txt", "b.txt"}), HasSubstr("| usage: "));
  EXPECT_THAT(refusal({"named-direct", "a.txt", "b.txt", "lr=1"}),
              EndsWith("| write data.path=a.txt,b.txt"));
  EXPECT_THAT(refusal({"named", "wombat"}), HasSubstr("| usage: "));
  EXPECT_THAT(refusal({"rows", "train.txt"}), HasSubstr("| usage: ")) << "it has no data.path";
}

TEST_F(ForeignNames, AFurtherRunIsNoFileOfData) {
  const TemporaryDirectory folder;
  const std::string run = (folder.path() / "base").string();
  const std::string data = (folder.path() / "test.txt").string();
  RunDir::create(folder.path(), "base", "named", [](RunDir& made) {
    made.write_record({{"recipe", "named"}});
  });
  write_file_atomic(data, "a text");
  Command evaluate = planner();
  evaluate.name = evaluate.group = "evaluate";
  evaluate.complete = "run";
  const auto refused = [&](const std::string& word) {
    return error_if_any([&] { parse(evaluate, {run, word}); });
  };
  EXPECT_THAT(refused(data), EndsWith(cat("| write data.path=", data)));
  for (const std::string& other : {run, cat(run, ".v2"), std::string("base.v2")})
    EXPECT_THAT(refused(other), HasSubstr("| usage: ")) << other;
}

TEST_F(ForeignNames, ACommandWithoutTheRecipeSaysSoWhateverFlagItIsGiven) {
  Command command = planner();
  command.complete = "recipe";
  EXPECT_THAT(error_of([&] {
                parse(command, {"named-direct", "--gpus", "T4x2"});
              }),
              HasSubstr("named-direct trains in the tool itself, without the engine"));
}

TEST_F(ForeignNames, AValueThatWasTypedCountsMoreThanAPlaceForOne) {
  EXPECT_THAT(key_refusal("named-direct", {"data_dir=d", "tickers=a.txt"}, 0),
              HasSubstr("| write data.path=d symbols=a.txt"));
  EXPECT_THAT(key_refusal("named-direct", {"tickers=a.txt"}, 0),
              HasSubstr("| write symbols=a.txt data.path=DIR"));
  EXPECT_THAT(key_refusal("named-direct", {"data.path=d", "tickers=a.txt"}, 0),
              EndsWith("| write symbols=a.txt"))
      << "the place is filled";
}

TEST_F(ForeignNames, TheBatchOfAListOfNumbersIsThatOfTheLargest) {
  Command bench = planner();
  bench.name = "bench";
  EXPECT_THAT(error_of([&] {
                parse(bench, {"named", "--gpus", "1,2,4", "--batch_size", "8"});
              }),
              HasSubstr("| write --devices 1,2,4 batch.global=32 batch.micro=8: batch.global is of "
                        "4 devices together"));
}

TEST_F(ForeignNames, WhatIsTheDefaultIsLeftOutBesideWhatIsNotKnown) {
  EXPECT_THAT(refusal({"named", "--gpus", "all", "--wombat", "1"}),
              HasSubstr("| leave it out: all GPUs are the default; not known: --wombat"));
}

TEST_F(ForeignNames, AListOfNumbersIsOneForBench) {
  Command bench = planner();
  bench.name = "bench";
  const auto refused = [&](const std::vector<std::string>& words) {
    return error_of([&] { parse(bench, words); });
  };
  for (const char* flag : {"--gpus", "--num-gpus", "--n-gpus"})
    EXPECT_THAT(refused({"named", flag, "1,2"}), HasSubstr("| write --devices 1,2 (")) << flag;
  EXPECT_THAT(refused({"named", "--gpus", "0,1"}), HasSubstr("| write --devices 2 ("));
  EXPECT_THAT(refused({"named", "--gpus", "4"}), HasSubstr("| write --devices 4 ("));
  EXPECT_THAT(refused({"named", "--gpu-ids", "1,2"}), HasSubstr("| write --devices 2"));
  EXPECT_THAT(refusal({"named", "--gpus", "1,2"}), HasSubstr("| write --devices 2 ("));
}

TEST_F(ForeignNames, NoWordOfTheLineIsDropped) {
  Command trainer = planner();
  trainer.name = "train";
  trainer.flags.push_back({"--resume", "auto", "go on", "word auto|never"});
  EXPECT_THAT(error_of([&] {
                parse(trainer,
                      {"named", "--epochs", "40", "--batch", "16", "--lr", "2e-3", "--fp16",
                       "--wombat", "3", "--devices", "0,1", "--resume", "x.pth"});
              }),
              HasSubstr("| write stop.epochs=40 batch.global=32 batch.micro=16 optimizer.lr=2e-3 "
                        "precision=fp16: batch.global is of 2 devices together; for a script that "
                        "used one GPU, batch.global=16 and no other batch.* train as it did; not "
                        "known: --wombat; --resume takes auto or never, not x.pth"));
  EXPECT_THAT(
      refusal({"named", "BATCH_SIZE=4", "GRADIENT_CLIP=1.0", "BOGUS=1", "--devices=1xT4"}),
      HasSubstr("| write batch.global=4 batch.micro=4 optimizer.clip=1.0: batch.global is of "
                "1 device; not known: BOGUS"));
  EXPECT_THAT(
      refusal({"named", "--pin-memory", "--wombat", "3"}),
      AllOf(HasSubstr("| leave it out: loader threads"), EndsWith("; not known: --wombat")));
  EXPECT_EQ(hint({"symbols=4", "lr=1"}), "write optimizer.lr=1") << "of a step that follows";
}

TEST_F(ForeignNames, AnOptionWithoutItsGroupIsWrittenWithIt) {
  EXPECT_EQ(hint({"things=4", "lr=1"}), "write data.things=4 optimizer.lr=1");
  EXPECT_EQ(key_refusal("named", {"lr=1", "clip=0.5", "warmup=5"}, 2),
            "warmup is not an option | write optimizer.lr=1 optimizer.clip=0.5 schedule.warmup=5");
  EXPECT_THAT(hint({"every_steps=4", "lr=1"}),
              HasSubstr("write optimizer.lr=1; not known: every_steps ("));
  EXPECT_THAT(hint({"accumulation=2", "batch_size=16"}),
              HasSubstr("write batch.global=64 batch.micro=16 batch.accumulation=2"));
}

TEST_F(ForeignNames, WhatTheLineSetsItselfIsTheReasonToLeaveOutAnotherName) {
  EXPECT_EQ(hint({"optimizer.lr=5e-4", "lr=1e-3"}),
            "leave it out: optimizer.lr=5e-4 is set already and counts");
  EXPECT_EQ(hint({"optimizer.lr=5e-4", "lr=1e-3", "wd=0.1"}),
            "write optimizer.weight_decay=0.1; leave out lr; optimizer.lr=5e-4 is set already and "
            "counts");
  EXPECT_EQ(hint({"schedule.warmup=5", "warmup_steps=500"}),
            "leave it out: schedule.warmup=5 is set already and counts");
}

// Settings of training stay with the run; the rest has another meaning than for training.
TEST_F(ForeignNames, ACommandThatReadsARunIsToldWhatItTakes) {
  const TemporaryDirectory folder;
  const std::string run = (folder.path() / "base").string();
  RunDir::create(folder.path(), "base", "named", [](RunDir& made) {
    made.write_record({{"recipe", "named"}});
  });
  const auto refused = [&](const std::string& name, const std::vector<std::string>& more) {
    Command command = planner();
    command.name = command.group = name;
    command.complete = "run";
    command.takes_files = true;
    command.max_positionals = 9;
    command.flags.push_back({"--best", "", ""});
    std::vector<std::string> words{run};
    words.insert(words.end(), more.begin(), more.end());
    return error_if_any([&] { parse(command, words); });
  };
  for (const char* command : {"evaluate", "predict"}) {
    EXPECT_THAT(refused(command, {"--batch_size", "4"}), HasSubstr("| write eval.batch=4"));
    EXPECT_THAT(refused(command, {"--batch_size", "4"}), Not(HasSubstr("batch.global")));
    EXPECT_THAT(refused(command, {"--lr", "1"}),
                HasSubstr("| leave it out: the run keeps its settings of training"));
    EXPECT_THAT(refused(command, {"--fp16", "--epochs", "3"}),
                HasSubstr("| write precision=fp16; leave out epochs; the run keeps its settings"));
  }
  EXPECT_THAT(refused("predict", {"--output_dir", "x"}), HasSubstr("| write predict.out=x"));
  EXPECT_THAT(refused("evaluate", {"--output_dir", "x"}),
              HasSubstr("| leave it out: --items FILE says where"));
  EXPECT_THAT(refused("predict", {"--random_seed", "1"}), HasSubstr("| write predict.seed=1"));
  for (const char* command : {"evaluate", "predict"}) {
    EXPECT_THAT(refused(command, {"--checkpoint", "best"}), EndsWith("| write --best"));
    EXPECT_THAT(refused(command, {"CKPT_PATH=best", "LR=1"}), HasSubstr("| write --best; leave"));
    EXPECT_THAT(refused(command, {"--weights", "latest"}),
                EndsWith("| leave it out: the newest checkpoint is the default"));
    EXPECT_THAT(refused(command, {"SYMBOLS=4"}), EndsWith("| write predict.symbols=4"));
  }
  EXPECT_EQ(refused("predict", {"E=mc", "--", "SYMBOLS=4"}), "") << "a text, and a file perhaps";
  EXPECT_EQ(refused("predict", {"SYMBOLS=4 is the answer"}), "") << "a text";
}

const FlagsHere of_evaluate{.names = {"--devices"}, .group = "evaluate", .of_run = "evaluate"};
const FlagsHere of_predict{.names = {"--devices"}, .group = "predict", .of_run = "predict"};

TEST_F(ForeignNames, AWordThatTheCommandTakesIsNeverLeftOut) {
  EXPECT_EQ(hint({"rounds=5", "label_list=a"}, of_evaluate), "write predict.symbols=a");
  EXPECT_EQ(hint({"rounds=5", "lr=1"}, of_evaluate),
            "leave it out: the run keeps its settings of training");
  EXPECT_EQ(hint({"wd=1", "lr=1"}, of_evaluate),
            "leave out wd, lr: the run keeps its settings of training");
  EXPECT_EQ(hint({"--rounds=5"}, of_evaluate), "write evaluate.rounds=5 (several, 1,2,3)");
  EXPECT_EQ(hint({"rounds=5", "num_rounds=3"}, of_evaluate),
            "leave it out: evaluate.rounds=5 is set already and counts");
}

TEST_F(ForeignNames, ANameMayMeanAnotherOptionForACommandThatReadsARun) {
  EXPECT_EQ(hint({"num_rounds=5"}, of_evaluate), "write evaluate.rounds=5 (several, 1,2,3)");
  EXPECT_EQ(hint({"num_rounds=5"}, of_predict),
            "leave it out: the run keeps its settings of training");
  EXPECT_EQ(hint({"num_rounds=5"}), "write data.things=5 (of training)");
}

TEST_F(ForeignNames, ACommandThatReadsARunTakesItsOwnOptionsAndThoseOfFiles) {
  const Vocabulary known = vocabulary_of("named");
  for (const char* key : {"evaluate.rounds", "predict.symbols", "eval.batch", "precision"})
    EXPECT_TRUE(is_for_reading(known, "evaluate", key)) << key;
  EXPECT_FALSE(is_for_reading(known, "predict", "evaluate.rounds")) << "predict never reads it";
  for (const char* key : {"data.things", "batch.global", "stop.steps"})
    EXPECT_FALSE(is_for_reading(known, "evaluate", key)) << key;
}

TEST_F(ForeignNames, ARunThatGoesOnKeepsItsGlobalBatch) {
  const TemporaryDirectory folder;
  RunDir::create(folder.path(), "base", "named", [](RunDir& made) {
    made.write_record({{"recipe", "named"}});
  });
  Command resume = planner();
  resume.name = "resume";
  resume.complete = "run";
  const auto refused = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{(folder.path() / "base").string()};
    words.insert(words.end(), more.begin(), more.end());
    return error_of([&] { parse(resume, words); });
  };
  EXPECT_THAT(refused({"BATCH_SIZE_PER_GPU=12"}), EndsWith("| write batch.micro=12"));
  EXPECT_THAT(refused({"BATCH_SIZE=12", "GRAD_ACCUM=2"}),
              EndsWith("| write batch.micro=12; leave out grad_accum; the global batch of a run "
                       "stays as it is"));
  EXPECT_THAT(refused({"GRAD_ACCUM=2"}), EndsWith("| write batch.accumulation=2"));
  EXPECT_THAT(refused({"TOTAL_BATCH_SIZE=12"}),
              EndsWith("| leave it out: the global batch of a run stays as it is"));
}

TEST_F(ForeignNames, ALineThatAsksForAnotherCommandIsToldThatCommand) {
  EXPECT_EQ(hint({"lr=1", "num_things=3", "label_list=a", "mode=inference"}),
            "to predict is a command of its own, on a run that has trained: lockstep predict RUN "
            "predict.symbols=a; `lockstep runs` lists the runs");
  EXPECT_EQ(hint({"lr=1", "label_list=a", "run_name=first", "mode=evaluate"}),
            "to evaluate is a command of its own, on a run that has trained: lockstep evaluate "
            "first");
  EXPECT_EQ(hint({"lr=1", "mode=train"}),
            "write optimizer.lr=1; leave out mode (train, evaluate "
            "and predict are commands)");
  EXPECT_EQ(hint({"lr=1", "mode=max"}), "write optimizer.lr=1; leave out mode");
}

TEST_F(ForeignNames, AnOptionOfTheRecipeWithoutItsGroupIsNoNameForCommands) {
  const Vocabulary known = vocabulary_of("rows");
  const auto asks_for_commands = [](const Synonym& one) { return !one.commands.empty(); };
  EXPECT_TRUE(std::none_of(known.synonyms.begin(), known.synonyms.end(), asks_for_commands));
}

// A command on a run knows the recipe by the run's record.
TEST_F(ForeignNames, TheRunThatIsNamedSaysOfWhichRecipeTheyAre) {
  const TemporaryDirectory folder;
  const std::filesystem::path base = folder.path() / "base";
  RunDir::create(folder.path(), "base", "named", [](RunDir& run) {
    run.write_record({{"recipe", "named"}});
  });
  Command resume = planner();
  resume.name = "resume";
  resume.complete = "run";
  const auto refused = [&](const std::vector<std::string>& words) {
    return error_of([&] { parse(resume, words); });
  };
  EXPECT_THAT(refused({base.string(), "NUM_THINGS=4"}), HasSubstr("| write data.things=4"));
  EXPECT_THAT(refused({"--devices", "0", "base", "run.root=" + folder.path().string(),
                       "--num_things", "4"}),
              HasSubstr("| write data.things=4"));
  EXPECT_THAT(refused({"nowhere", "--num_things", "4"}), Not(HasSubstr("data.things")));
}

// A run's weights stay, so first weights are no option beside it.
TEST_F(ForeignNames, ACheckpointIsNamedAsEachCommandOfARunTakesIt) {
  const auto refused = [](const char* name, const std::vector<std::string>& words) {
    Command command = planner();
    command.name = name;
    command.complete = "run";
    return error_of([&] { parse(command, words); });
  };
  EXPECT_THAT(refused("predict", {"--checkpoint", "best_model.pth", "a.jpg"}),
              AllOf(HasSubstr("| leave it out: it needs a run: `lockstep train RECIPE "
                              "init.from=best_model.pth` trains one "),
                    HasSubstr("`lockstep predict RUN` takes it"), Not(HasSubstr("write init"))));
  EXPECT_THAT(refused("evaluate", {"whole", "--weights", "best.safetensors"}),
              HasSubstr("in place of RUN, as `lockstep evaluate best.safetensors`"));
  EXPECT_THAT(refused("resume", {"whole", "--checkpoint", "best_model.pth"}),
              HasSubstr("| leave it out: a run goes on from its own newest checkpoint; `lockstep "
                        "train RECIPE init.from=best_model.pth` begins a new run"));
  EXPECT_THAT(refused("plan", {"whole", "--pretrained", "false"}),
              Not(HasSubstr("newest checkpoint")));
  EXPECT_THAT(hint({"checkpoint=best_model.pth"}), HasSubstr("write init.from=best_model.pth"));
}

TEST_F(ForeignNames, ALineWithoutARecipeIsToldThatFirst) {
  Command trainer = planner();
  trainer.complete = "recipe";
  EXPECT_THAT(error_of([&] {
                parse(trainer, {"--device", "cuda", "--num_things", "3"});
              }),
              AllOf(HasSubstr("lockstep plan needs RECIPE | name the recipe first, one of "),
                    HasSubstr("named, rows"), HasSubstr(": lockstep plan named data.things=3")));
  trainer.name = "train";
  EXPECT_THAT(error_of([&] {
                parse(trainer, {"--device", "cuda", "--json", "--num_things", "3", "--wombat",
                                "a b", "stop.steps=5"});
              }),
              HasSubstr(": lockstep train named --json --wombat 'a b' stop.steps=5 --devices all "
                        "data.things=3"));
  EXPECT_THAT(error_of([&] {
                parse(trainer, {"--device", "cuda", "--", "--json"});
              }),
              HasSubstr(" --devices all -- --json"));
  trainer.name = "plan";
  EXPECT_THAT(error_of([&] {
                parse(trainer, {"--device", "cuda", "rows"});
              }),
              HasSubstr("has no flag --device"));
}

TEST_F(ForeignNames, AValueIsOneWordOfTheShell) {
  EXPECT_EQ(hint({"run_name=a b; c"}), "write --name 'a b; c'");
  EXPECT_THAT(hint({"output_dir=my runs"}), HasSubstr("write 'run.root=my runs' ("));
}

TEST_F(ForeignNames, ACommandWithFewOptionsIsToldNothing) {
  Command few = planner();
  few.only_options = {"run.root"};
  EXPECT_EQ(hint_for_word(few, {"--batch_size", "3"}, "--batch_size"), "");
}

}  // namespace
}  // namespace lockstep::cli
