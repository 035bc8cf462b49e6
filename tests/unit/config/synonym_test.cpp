// What is written here for the names of other programs.
#include "config/synonym.h"

#include <gtest/gtest.h>

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
    {.names = {"device"}, .from = "PyTorch", .ours = "--devices {device}"},
    {.names = {"gpus"}, .from = "Lightning", .ours = "--devices {first}", .note = "a number there"},
    {.names = {"pretrained"}, .from = "timm", .ours = "init.from={path}"}};

std::string written(const char* name, const char* value, TypedBatch batch = {}) {
  const Synonym* const synonym = find_synonym(names, name);
  return synonym == nullptr ? "unknown" : written_here(*synonym, value, batch);
}

TEST(Synonym, IsFoundHoweverItIsTyped) {
  for (const char* typed : {"batch_size", "--batch_size", "--batch-size", "BATCH_SIZE", "-bs"})
    EXPECT_EQ(find_synonym(names, typed), &names[0]) << typed;
  EXPECT_EQ(find_synonym(names, "batch_sizes"), nullptr);
  EXPECT_EQ(find_synonym(names, "--"), nullptr);
}

TEST(Synonym, AddsUpWhatEachDeviceTakes) {
  EXPECT_EQ(written("batch_size", "16", {.devices = 2}), "batch.global=32 batch.micro=16");
  EXPECT_EQ(written("batch_size", "16", {.devices = 2, .accumulation = 4}),
            "batch.global=128 batch.micro=16");
  EXPECT_EQ(written("batch_size", "16"), "batch.global=16xDEVICES batch.micro=16");
  EXPECT_EQ(written("batch_size", "many", {.devices = 2}),
            "batch.global=manyxDEVICES batch.micro=many");
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

TEST(Synonym, ATableHasARowOfEach) {
  const std::string table = synonyms_markdown(names);
  EXPECT_NE(table.find("| `batch_size`, `bs` | PyTorch | `batch.global=VALUE x devices x "
                       "accumulation batch.micro=VALUE` |  |\n"),
            std::string::npos)
      << table;
  EXPECT_NE(table.find("| `precision=fp16`; off: `precision=fp32` |"), std::string::npos);
  EXPECT_NE(table.find("| `--devices 0,1,…` | a number there |"), std::string::npos);
}

}  // namespace
}  // namespace lockstep
