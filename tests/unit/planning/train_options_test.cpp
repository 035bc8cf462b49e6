// The engine's table: each option is explained, and reaches a field of its own.
#include "planning/options/train_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/error.h"
#include "core/base/text/text.h"

namespace lockstep {
namespace {

// A value that the option may have and that is not its default.
std::string another_value(const OptionInfo& option) {
  switch (option.type) {
    case OptionType::boolean:
      return option.default_text == "true" ? "false" : "true";
    case OptionType::integer:
      return std::to_string(std::stoll(option.default_text) + 1);
    case OptionType::real:
      return general(
          std::isfinite(option.spec.max) ? option.spec.max / 2 : std::stod(option.default_text) + 1,
          6);
    case OptionType::choice:
      return option.spec.choices.back() == option.default_text ? option.spec.choices.front()
                                                               : option.spec.choices.back();
    case OptionType::duration:
      return "1h30m";
    case OptionType::text:
    case OptionType::list:
      return "other";
  }
  return {};
}

TEST(TrainOptions, HaveNoKeyTwiceAndNoneThatIsHardToWrite) {
  const TrainOptions options;
  std::set<std::string> keys;
  for (const OptionInfo& option : options.table.options()) {
    EXPECT_TRUE(keys.insert(option.key).second) << option.key << " comes twice";
    EXPECT_EQ(option.key.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_."),
              std::string::npos)
        << option.key;
  }
  EXPECT_GT(keys.size(), 50U);
}

TEST(TrainOptions, AreAllExplained) {
  const TrainOptions options;
  for (const OptionInfo& option : options.table.options()) {
    EXPECT_GE(option.spec.meaning.size(), 10u) << option.key;
    EXPECT_FALSE(option.spec.meaning.ends_with('.')) << option.key;
  }
}

TEST(TrainOptions, EachReachAFieldOfTheirOwn) {
  const TrainOptions defaults;
  for (const OptionInfo& option : defaults.table.options()) {
    TrainOptions options;
    options.table.set(option.key, another_value(option));
    nlohmann::json changed = options.table.to_json();
    EXPECT_NE(changed.at(option.key), defaults.table.to_json().at(option.key)) << option.key;
    changed[option.key] = defaults.table.to_json().at(option.key);
    EXPECT_EQ(changed, defaults.table.to_json()) << option.key;
  }
}

TEST(TrainOptions, ReachTheFieldsTheyName) {
  TrainOptions options;
  const std::vector<OptionTable*> tables{&options.table};
  const std::vector<std::string> arguments{
      "precision=bf16",           "reduce_precision=bf16", "batch.micro=4",
      "batch.accumulation=3",     "optimizer.beta1=0.8",   "optimizer.beta2=0.95",
      "schedule.unit=epochs",     "schedule.every=2.5",    "schedule.kind=cosine_restarts",
      "stop.after=8h30m",         "stop.budget=1d",        "checkpoint.every=10m",
      "checkpoint.keep_every=1h", "eval.every_steps=7",    "log.every_steps=3",
      "checkpoint.every_steps=9"};
  apply_config(tables, {}, arguments);
  EXPECT_EQ(options.precision, Precision::bf16);
  EXPECT_EQ(options.reduce_precision, ReducePrecision::bf16);
  EXPECT_EQ(options.batch.micro, 4);
  EXPECT_EQ(options.batch.accumulation, 3);
  EXPECT_EQ(options.optimizer.beta1, 0.8);
  EXPECT_EQ(options.optimizer.beta2, 0.95);
  EXPECT_EQ(options.schedule.unit, TimeUnit::epochs);
  EXPECT_EQ(options.schedule.parameters.at("every"), 2.5);
  EXPECT_EQ(options.schedule.kind, "cosine_restarts");
  EXPECT_EQ(options.stop.after.seconds, 30600);
  EXPECT_EQ(options.stop.budget.seconds, 86400);
  EXPECT_EQ(options.checkpoint.every.seconds, 600);
  EXPECT_EQ(options.checkpoint.keep_every.seconds, 3600);
  EXPECT_EQ(options.eval.every_steps, 7);
  EXPECT_EQ(options.log.every_steps, 3);
  EXPECT_EQ(options.checkpoint.every_steps, 9);
}

TEST(TrainOptions, RefuseWhatCannotBe) {
  TrainOptions options;
  const std::vector<std::pair<const char*, const char*>> wrong{
      {"batch.global", "-1"},    {"optimizer.lr", "-0.1"},   {"optimizer.beta1", "1"},
      {"optimizer.eps", "0"},    {"schedule.gamma", "1.5"},  {"schedule.period_mult", "0.5"},
      {"data.threads", "-2"},    {"data.prefetch", "0"},     {"checkpoint.keep", "0"},
      {"log.every_steps", "0"},  {"stop.after", "-1"},       {"precision", "fp8"},
      {"optimizer.clip", "nan"}, {"optimizer.scale_lr", "x"}};
  for (const auto& [key, value] : wrong)
    EXPECT_THROW(options.table.set(key, value), Error) << key << "=" << value;
}

TEST(TrainOptions, AnswerOtherProgramsWordsWithTheirOwn) {
  TrainOptions options;
  const auto hint_of = [](const auto& act) -> std::string {
    try {
      act();
    } catch (const Error& error) {
      return error.hint();
    }
    return "";
  };
  const auto hint = [&](const std::string& assignment) {
    OptionTable* const tables[] = {&options.table};
    const std::string assignments[] = {assignment};
    return hint_of([&] { apply_config(tables, {}, assignments); });
  };
  for (const char* half : {"16-mixed", "16", "float16", "torch.float16", "half", "FP16"})
    EXPECT_EQ(hint(cat("precision=", half)), "write precision=fp16") << half;
  for (const char* half : {"bf16-mixed", "bfloat16"})
    EXPECT_EQ(hint(cat("precision=", half)), "write precision=bf16") << half;
  EXPECT_EQ(hint("precision=32-true"), "write precision=fp32");
  EXPECT_EQ(hint("precision=160").find("write"), std::string::npos);
  EXPECT_EQ(hint_of([&] { options.table.set_json("precision", 16); }), "write precision=fp16");
  EXPECT_EQ(hint("schedule.kind=CosineAnnealingLR"), "write schedule.kind=cosine");
  EXPECT_EQ(hint("schedule=torch.optim.lr_scheduler.LinearLR"), "write schedule.kind=linear");
  EXPECT_EQ(hint("schedule=cosine"), "write schedule.kind=cosine");
  EXPECT_EQ(hint("optimizer=AdamW"), "write optimizer.kind=adamw");
}

}  // namespace
}  // namespace lockstep
