// What the options of the fewshot recipe allow, and the numbers that follow from them.
#include "recipes/fewshot/options/fewshot_options.h"

#include <gmock/gmock.h>

#include <functional>
#include <string>

#include "core/base/error.h"

namespace lockstep::fewshot {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string fault_of(const std::function<void(FewshotOptions&, TrainOptions&)>& change) {
  FewshotOptions options;
  TrainOptions train;
  options.defaults(train, true);
  change(options, train);
  try {
    options.check(train);
  } catch (const Error& error) {
    return std::string(error.what()) + " | " + error.hint();
  }
  return "";
}
std::string fault_of(const std::function<void(FewshotOptions&)>& change) {
  return fault_of([&](FewshotOptions& options, TrainOptions&) { change(options); });
}

TEST(FewshotOptions, DefaultsAndPresetsAreAllowed) {
  EXPECT_EQ(fault_of([](FewshotOptions&) {}), "");
  for (const Preset& preset : presets())
    EXPECT_EQ(fault_of([&](FewshotOptions& options, TrainOptions& train) {
                for (const auto& [key, value] : preset.values) {
                  ASSERT_TRUE(options.table.has(key) || train.table.has(key)) << key;
                  OptionTable& table = options.table.has(key) ? options.table : train.table;
                  EXPECT_NO_THROW(table.set(key, value)) << preset.name << " " << key;
                }
              }),
              "")
        << preset.name;
  for (const bool has_gpu : {false, true}) {
    TrainOptions train;
    FewshotOptions().defaults(train, has_gpu);
    EXPECT_EQ(train.batch.global % 8, 0);
    EXPECT_TRUE(std::any_of(presets().begin(), presets().end(),
                            [&](const Preset& preset) { return preset.name == train.preset; }));
  }
}

TEST(FewshotOptions, EvaluationTakesOneEpisodeAtATime) {
  EXPECT_THAT(fault_of([](FewshotOptions&, TrainOptions& train) { train.eval.batch = 2; }),
              AllOf(HasSubstr("eval.batch is 2"), HasSubstr("one episode at a time")));
}

TEST(FewshotOptions, ExactSumsNeedStatisticsThatStay) {
  for (const char* statistics : {"rank", "sync", "frozen"})
    EXPECT_THAT(fault_of([&](FewshotOptions&, TrainOptions& train) {
                  train.exact = true;
                  train.table.set("norm.statistics", statistics);
                }),
                statistics == std::string("frozen")
                    ? ::testing::Matcher<std::string>(::testing::IsEmpty())
                    : AllOf(HasSubstr(std::string("norm.statistics = ") + statistics),
                            HasSubstr("set norm.statistics=frozen")));
}

TEST(FewshotOptions, WhatContradictsItselfIsRefused) {
  EXPECT_THAT(fault_of([](FewshotOptions& options) { options.model.depth = 51; }),
              HasSubstr("model.depth is 51"));
  EXPECT_THAT(fault_of([](FewshotOptions& options) {
                options.episode.support_size = 16;
                options.episode.context = 2;
              }),
              HasSubstr("episode.support_size is 16"));
  EXPECT_THAT(fault_of([](FewshotOptions& options) {
                options.episode.size = 64;
                options.episode.context = 32;
              }),
              HasSubstr("leaves nothing of 64 pixels"));
  EXPECT_THAT(fault_of([](FewshotOptions& options) { options.data.shots = 3; }),
              AllOf(HasSubstr("leaves nothing to find"), HasSubstr("episode.k_shot=2")));
  EXPECT_THAT(fault_of([](FewshotOptions& options) {
                options.data.shots = 1;
                options.episode.k_shot = 1;
              }),
              HasSubstr("episode.k_shot=1 and data.shots=2"));
  EXPECT_EQ(fault_of([](FewshotOptions& options) { options.data.shots = 4; }), "");
  EXPECT_THAT(fault_of([](FewshotOptions& options) {
                options.loss = {.proposals = 0, .proposal_boxes = 0, .classes = 0, .boxes = 0};
              }),
              HasSubstr("all 0"));
}

TEST(FewshotOptions, ListsOfNumbersAreRead) {
  FewshotOptions options;
  EXPECT_THAT(options.shots(), ElementsAre(3));  // episode.k_shot
  options.table.set("evaluate.shots", "10,1,5,1");
  EXPECT_THAT(options.shots(), ElementsAre(1, 5, 10));
  for (const char* bad : {"0", "1.5", "-2", "a", "nan", "1e9"}) {
    EXPECT_THAT(
        fault_of([&](FewshotOptions& changed) { changed.table.set("evaluate.shots", bad); }),
        HasSubstr("evaluate.shots"))
        << bad;
  }
  options.table.set("model.anchor_sizes", "24,48.5");
  EXPECT_THAT(options.detector().anchor_sizes, ElementsAre(24, 48.5));
  EXPECT_THAT(
      fault_of([](FewshotOptions& changed) { changed.table.set("model.anchor_ratios", "1,x"); }),
      HasSubstr("model.anchor_ratios holds \"x\""));
  EXPECT_THAT(
      fault_of([](FewshotOptions& changed) { changed.table.set("model.anchor_sizes", ""); }),
      HasSubstr("model.anchor_sizes is empty"));
}

TEST(FewshotOptions, FlopsGrowWithPicturesAsConvolutionsDo) {
  FewshotOptions options;
  options.table.set("episode.n_way", "2");
  const auto flops = [&](const char* size) {
    options.table.set("episode.size", size);
    return options.flops_per_sample({}).value();
  };
  // Cells are four times as many, regions as many as before.
  const double first = flops("64"), second = flops("128"), third = flops("256");
  EXPECT_GT(first, 0);
  EXPECT_NEAR((third - second) / (second - first), 4, 1e-6);
}

TEST(FewshotOptions, AnEvaluationsPassesFollowItsShotsQueriesAndRegions) {
  FewshotOptions options;
  options.predict.regions = options.model.regions + 32;  // as training has with the true boxes
  const std::int64_t shots = options.episode.k_shot;
  EXPECT_DOUBLE_EQ(options.passes_of_evaluation(shots), 1);
  EXPECT_GT(options.passes_of_evaluation(shots + 5), 1.1);
  options.evaluate.queries = 2 * options.episode.queries;
  EXPECT_GT(options.passes_of_evaluation(shots), 1.1);
}

TEST(FewshotOptions, MemoryFollowsTheSettings) {
  FewshotOptions options;
  TrainOptions train;
  train.precision = Precision::fp32;
  const auto bytes = [&] { return options.memory(train, {}).per_sample_bytes; };
  const double fp32 = bytes();
  train.precision = Precision::bf16;
  EXPECT_LT(bytes(), 0.7 * fp32);
  const double before = bytes();
  options.table.set("episode.queries", "20");
  EXPECT_GT(bytes(), 1.2 * before);
  options.table.set("model.depth", "18");
  EXPECT_LT(bytes(), before);
  EXPECT_EQ(options.memory(train, {.parameters = 10}).fixed_bytes -
                options.memory(train, {.parameters = 9}).fixed_bytes,
            options.memory(train, {.parameters = 2}).fixed_bytes -
                options.memory(train, {.parameters = 1}).fixed_bytes);
}

TEST(FewshotOptions, BlocksThatAreComputedAgainKeepLess) {
  FewshotOptions options;
  TrainOptions train;
  train.precision = Precision::bf16;
  for (const auto& [depth, blocks] : {std::pair{"18", 7}, {"50", 14}, {"101", 31}}) {
    options.table.set("model.depth", depth);
    const MemoryEstimate memory = options.memory(train, {});
    EXPECT_EQ(memory.blocks, blocks) << depth;
    EXPECT_LT(memory.recomputed_block_bytes, 0.5 * memory.block_bytes) << depth;
    // The heads are computed once.
    EXPECT_LT(static_cast<double>(memory.blocks) * memory.block_bytes, memory.per_sample_bytes);
    EXPECT_GT(static_cast<double>(memory.blocks) * memory.block_bytes,
              0.7 * memory.per_sample_bytes);
  }
  // An episode cannot be cut into smaller micro-batches.
  options.defaults(train, true);
  EXPECT_EQ(train.memory.recompute, Recompute::automatic);
}

// Its scripts count steps, where the engine's names are of programs that count epochs.
TEST(FewshotNames, AreThoseOfItsScripts) {
  const std::vector<Synonym> all = synonyms();
  const auto ours = [&](const char* name, const char* value) {
    const Synonym* const synonym = find_synonym(all, name);
    if (synonym == nullptr) return std::string("unknown");
    const std::vector<OurWord> words = written_here(*synonym, value, {});
    return words.front().name + "=" + words.front().value;
  };
  EXPECT_EQ(ours("save_every", "100"), "checkpoint.every_steps=100");
  EXPECT_EQ(ours("query_samples", "8"), "episode.queries=8");
  EXPECT_EQ(ours("train_json", "a.json"), "data.train=a.json");
  EXPECT_EQ(ours("val_json", "b.json"), "data.valid=b.json");
  EXPECT_EQ(ours("image", "a.jpg"), "predict.images=a.jpg");
  EXPECT_EQ(ours("support_img", "a.jpg"), "predict.supports=LIST.csv");
}

TEST(FewshotOptionsBuiltIn, IsTheDataWhereNoneAreNamed) {
  FewshotOptions options;
  EXPECT_EQ(options.built_in().value().what, "drawn shapes");
  options.data.path = "mine";
  EXPECT_FALSE(options.built_in());
}

}  // namespace
}  // namespace lockstep::fewshot
