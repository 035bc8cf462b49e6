// What is written here for the names of other programs.
#include "core/config/synonym.h"

#include <gtest/gtest.h>

#include "core/base/text/text.h"

namespace lockstep {
namespace {

const std::vector<Synonym> names{
    {.names = {"batch_size", "bs"},
     .from = "PyTorch",
     .ours = "batch.global={total} batch.micro={value}"},
    {.names = {"fp16"},
     .from = "Transformers",
     .ours = "precision=fp16",
     .ours_when_off = "precision=fp32"},
    {.names = {"device"},
     .from = "PyTorch",
     .ours = "--devices {device}",
     .ours_when_off = "--devices cpu",
     .zero_is_index = true},
    {.names = {"cuda"},
     .from = "PyTorch",
     .ours = "--devices all",
     .ours_when_off = "--devices cpu"},
    {.names = {"gpus"}, .from = "Lightning", .ours = "--devices {first}", .note = "a number there"},
    {.names = {"pretrained"}, .from = "timm", .ours = "init.from={path}", .none_when_off = true},
    {.names = {"max_length"},
     .from = "Transformers",
     .ours = "model.context={value}",
     .in_command = {{"predict", "predict.tokens={value}", "new ones"}, {"evaluate", ""}}},
    {.names = {"dtype"},
     .from = "Transformers",
     .ours = "precision={value}",
     .values = {{"float16", "fp16"}, {"bf16-*", "bf16"}}},
    {.names = {"patch_size"}, .from = "MONAI", .ours = "data.patch={list}"},
    {.names = {"max_time"}, .from = "Lightning", .ours = "stop.after={duration}"},
    {.names = {"gpu"},
     .from = "scripts",
     .ours = "gbdt.device={kind} gbdt.device_id={index}",
     .ours_when_off = "gbdt.device=cpu",
     .zero_is_index = true},
    {.names = {"num_gpus"}, .from = "scripts", .ours = "", .note = "by itself"}};

std::string written(const char* name, const char* value, TypedBatch batch = {}) {
  const Synonym* const synonym = find_synonym(names, name);
  if (synonym == nullptr) return "unknown";
  std::vector<std::string> words;
  for (const OurWord& word : written_here(*synonym, value, batch))
    words.push_back(cat(word.name, word.name.starts_with("--") ? " " : "=", word.value));
  return join(words, " ");
}

TEST(Synonym, IsFoundHoweverItIsTyped) {
  for (const char* typed : {"batch_size", "--batch_size", "--batch-size", "BATCH_SIZE", "-bs"})
    EXPECT_EQ(find_synonym(names, typed), &names[0]) << typed;
  EXPECT_EQ(find_synonym(names, "batch_sizes"), nullptr);
  EXPECT_EQ(find_synonym(names, "--"), nullptr);
  EXPECT_EQ(find_synonym(names, "batch.size"), &names[0]) << "as in groups of other programs";
  EXPECT_EQ(find_synonym(names, "batch.sizes"), nullptr);
  EXPECT_EQ(find_synonym(names, "train.batch_size"), &names[0]) << "of each device";
}

TEST(Synonym, WritesListsOfNumbersAsOurs) {
  for (const char* value :
       {"64,32,16", "(64, 32, 16)", "[64,32,16]", "64x32x16", "64X32X16", "(64,32,16,)"})
    EXPECT_EQ(written("patch_size", value), "data.patch=64,32,16") << value;
  EXPECT_EQ(written("patch_size", "96"), "data.patch=96");
  EXPECT_EQ(written("patch_size", ""), "data.patch=VALUE");
}

TEST(Synonym, AddsUpWhatEachDeviceTakes) {
  EXPECT_EQ(written("batch_size", "16", {.devices = 2}), "batch.global=32 batch.micro=16");
  EXPECT_EQ(written("batch_size", "16", {.devices = 2, .accumulation = 4}),
            "batch.global=128 batch.micro=16");
  EXPECT_EQ(written("batch_size", "16"), "batch.global=16xDEVICES batch.micro=16");
  EXPECT_EQ(written("batch_size", "many", {.devices = 2}),
            "batch.global=VALUExDEVICES batch.micro=many");
  EXPECT_EQ(written("batch_size", "16", {.accumulation = 4}),
            "batch.global=16xDEVICESx4 batch.micro=16");
}

TEST(Synonym, TranslatesSwitchesDevicesAndPaths) {
  EXPECT_EQ(written("fp16", ""), "precision=fp16");
  EXPECT_EQ(written("fp16", "True"), "precision=fp16");
  EXPECT_EQ(written("fp16", "False"), "precision=fp32");
  EXPECT_EQ(written("device", "auto"), "--devices all");
  EXPECT_EQ(written("device", "cuda:1"), "--devices 1");
  EXPECT_EQ(written("device", "cpu"), "--devices cpu");
  EXPECT_EQ(written("gpus", "2"), "--devices 0,1");
  EXPECT_EQ(written("gpus", "-1"), "--devices all");
  EXPECT_EQ(written("pretrained", ""), "init.from=PATH");
  EXPECT_EQ(written("pretrained", "true"), "init.from=PATH");
  EXPECT_EQ(written("pretrained", "a.pth"), "init.from=a.pth");
}

TEST(Synonym, TakesZeroForADeviceOrForOff) {
  EXPECT_EQ(written("device", "0"), "--devices 0");
  for (const char* off : {"false", "False", "no", "off", "none", "None"})
    EXPECT_EQ(written("device", off), "--devices cpu") << off;
  EXPECT_EQ(written("cuda", "0"), "--devices cpu");
  EXPECT_EQ(written("cuda", "1"), "--devices all");
  EXPECT_EQ(written("gpus", "0"), "--devices cpu");
}

TEST(Synonym, TakesListsOfDevices) {
  for (const char* list : {"0,1", "[0, 1]", "(0,1)"}) {
    EXPECT_EQ(written("gpus", list), "--devices 0,1") << list;
    EXPECT_EQ(written("device", list), "--devices 0,1") << list;
  }
  EXPECT_EQ(written("gpus", "[1]"), "--devices 1");
}

TEST(Synonym, HasNothingToWriteForWhatIsOff) {
  for (const char* off : {"False", "0", "None"}) EXPECT_EQ(written("pretrained", off), "") << off;
  EXPECT_EQ(written("num_gpus", "2"), "");
}

TEST(Synonym, TranslatesValues) {
  EXPECT_EQ(written("dtype", "torch.float16"), "precision=fp16");
  EXPECT_EQ(written("dtype", "bf16-mixed"), "precision=bf16");
  EXPECT_EQ(written("dtype", "int8"), "precision=int8");
  EXPECT_EQ(written("dtype", "True"), "precision=true");
  EXPECT_EQ(written("max_time", "00:12:00:00"), "stop.after=12h");
  EXPECT_EQ(written("max_time", "1:30:00"), "stop.after=1h30m");
  EXPECT_EQ(written("max_time", "90s"), "stop.after=90s");
}

TEST(Synonym, TellsTheKindOfADeviceFromItsNumber) {
  EXPECT_EQ(written("gpu", "cuda:1"), "gbdt.device=gpu gbdt.device_id=1");
  EXPECT_EQ(written("gpu", "0"), "gbdt.device=gpu gbdt.device_id=0");
  EXPECT_EQ(written("gpu", "cuda"), "gbdt.device=cuda");
  EXPECT_EQ(written("gpu", "True"), "gbdt.device=gpu");
  EXPECT_EQ(written("gpu", ""), "gbdt.device=gpu");
  EXPECT_EQ(written("gpu", "no"), "gbdt.device=cpu");
}

TEST(Synonym, ATableHasARowOfEach) {
  const std::string table = synonyms_markdown(names);
  EXPECT_NE(table.find("| `batch_size`, `bs` | PyTorch | `batch.global=VALUE x devices x "
                       "accumulation batch.micro=VALUE` |  |\n"),
            std::string::npos)
      << table;
  EXPECT_NE(table.find("| `precision=fp16`; off: `precision=fp32` |"), std::string::npos);
  EXPECT_NE(table.find("| `init.from=PATH`; off: left out |"), std::string::npos);
  EXPECT_NE(table.find("| `max_length` | Transformers | `model.context=VALUE`; in `lockstep "
                       "predict`: `predict.tokens=VALUE`; in `lockstep evaluate`: left out | in "
                       "predict: new ones |"),
            std::string::npos)
      << table;
  EXPECT_NE(table.find("| `num_gpus` | scripts | left out | by itself |"), std::string::npos);
  EXPECT_NE(table.find("| `--devices 0,1,…` | a number there |"), std::string::npos);
}

}  // namespace
}  // namespace lockstep
