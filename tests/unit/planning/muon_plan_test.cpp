// What a plan says of muon: who updates what at which rate, options without an effect, and whether
// sharding saves anything.
#include "plan_fixtures.h"
#include "planning/batch/micro_batch.h"
#include "planning/memory/memory.h"
#include "planning/options/optimizers.h"
#include "planning/run_setup.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace lockstep {
namespace {

constexpr ValueSource typed{.kind = ValueSource::Kind::argument};

struct MuonPlanOptions : TrainOptions {
  explicit MuonPlanOptions(OptimizerKind kind = OptimizerKind::muon) {
    precision = Precision::fp32;
    stop.steps = 10;
    optimizer.kind = kind;
  }
};

Facts facts_of(std::vector<OptimizedParameter> parameters) {
  Facts facts = text_facts();
  facts.parameters = 0;
  for (const OptimizedParameter& one : parameters) facts.parameters += one.elements();
  facts.optimized = std::move(parameters);
  return facts_from_json(to_json(facts));  // as a run's record keeps them
}

std::vector<OptimizedParameter> few() {
  return {{.name = "words", .sizes = {50, 8}, .use = ParameterUse::embedding, .tied = true},
          {.name = "up", .sizes = {32, 8}},
          {.name = "up.bias", .sizes = {32}},
          {.name = "down", .sizes = {8, 32}},
          {.name = "filter", .sizes = {8, 8, 3, 3}},
          {.name = "head", .sizes = {50, 8}, .use = ParameterUse::head}};
}

std::string text_of(const TrainOptions& options, const Facts& facts) {
  return to_text(make_plan(options, facts, {}, gpus(1)), false, 400);
}

TEST(MuonPlan, ListsWhoGetsWhich) {
  MuonPlanOptions options;
  options.optimizer.adamw_lr = 3e-4;
  const Facts facts = facts_of(few());
  const std::string text = text_of(options, facts);
  EXPECT_TRUE(contains(text, "muon: 2 (512); adamw: 4 (")) << text;
  EXPECT_TRUE(contains(text,
                       "at a rate of 0.0003, of two dimensions words (embedding, tied), head "
                       "(head)"))
      << text;
  const nlohmann::json rules =
      to_json(make_plan(options, facts, {}, gpus(1))).at("parameters").at("rules");
  EXPECT_EQ(rules[0],
            (nlohmann::json{{"rule", "muon"}, {"parameters", 512}, {"names", {"up", "down"}}}));
  EXPECT_EQ(rules[1].at("names"), (nlohmann::json{"words", "up.bias", "filter", "head"}));
  EXPECT_EQ(rules[1].at("matrices")[1], (nlohmann::json{{"name", "head"}, {"why", "head"}}));
  options.optimizer.kind = OptimizerKind::adamw;
  EXPECT_FALSE(
      to_json(make_plan(options, text_facts(), {}, gpus(1))).at("parameters").contains("rules"));
}

TEST(MuonPlan, ShortensLongListsByPattern) {
  std::vector<OptimizedParameter> all{{.name = "up", .sizes = {8, 8}}};
  for (int i = 0; i < 12; ++i)
    all.push_back({.name = "heads." + std::to_string(i) + ".weight",
                   .sizes = {8, 8},
                   .use = ParameterUse::head});
  for (const char c : std::string("abcdefgh"))
    all.push_back({.name = std::string(1, c), .sizes = {8, 8}, .use = ParameterUse::embedding});
  const std::string text = text_of(MuonPlanOptions(), facts_of(all));
  EXPECT_TRUE(contains(text, "of two dimensions heads.*.weight (head, 12), a (embedding), b"))
      << text;
  EXPECT_TRUE(contains(text, "g (embedding), 1 more")) << text;
}

TEST(MuonPlan, SaysWhereUsesAreGuessed) {
  std::vector<OptimizedParameter> all = few();
  const char* const said = "adamw updates words and head";
  EXPECT_FALSE(has_note(make_plan(MuonPlanOptions(), facts_of(all), {}, gpus(1)), said));
  for (OptimizedParameter& one : all) one.guessed = one.use != ParameterUse::usual;
  const Facts facts = facts_of(all);
  EXPECT_TRUE(has_note(make_plan(MuonPlanOptions(), facts, {}, gpus(1)), said));
  EXPECT_TRUE(contains(text_of(MuonPlanOptions(), facts),
                       "words (first matrix, tied), head (last matrix)"));
}

TEST(MuonPlan, PrintsTheRateOfAdamWAtThePeak) {
  MuonPlanOptions options;
  options.optimizer.adamw_lr = 3e-4;
  options.optimizer.scale_lr = ScaleLr::linear;
  options.optimizer.base_batch = 32;
  options.batch.global = 64;
  const Facts facts = facts_of(few());
  EXPECT_DOUBLE_EQ(make_plan(options, facts, {}, gpus(1)).adamw_lr, 6e-4);
  EXPECT_TRUE(contains(text_of(options, facts), "at a rate of 0.0006"));
}

// Whether a plan says that the option does nothing.
bool is_ignored(const char* key, const char* value, OptimizerKind kind) {
  MuonPlanOptions options(kind);
  options.table.set(key, value, typed);
  return has_note(make_plan(options, text_facts(), {}, gpus(1)),
                  std::string(key) + " changes nothing");
}

TEST(MuonPlan, SaysWhichOptionsConcernOneKindAlone) {
  constexpr OptimizerKind kinds[] = {OptimizerKind::adamw, OptimizerKind::adam, OptimizerKind::sgd,
                                     OptimizerKind::muon};
  for (const OptimizerKind kind : kinds) {
    EXPECT_EQ(is_ignored("optimizer.muon_momentum", "0.9", kind), kind != OptimizerKind::muon);
    EXPECT_EQ(is_ignored("optimizer.momentum", "0.8", kind), kind != OptimizerKind::sgd);
    EXPECT_EQ(is_ignored("optimizer.nesterov", "true", kind), kind != OptimizerKind::sgd);
    EXPECT_EQ(is_ignored("optimizer.beta2", "0.9", kind), kind == OptimizerKind::sgd);
    EXPECT_EQ(is_ignored("optimizer.eps", "1e-6", kind), kind == OptimizerKind::sgd);
    EXPECT_FALSE(is_ignored("optimizer.weight_decay", "0.1", kind));
  }
  MuonPlanOptions options;
  options.table.set("optimizer.nesterov", "false", typed);
  EXPECT_TRUE(has_note(make_plan(options, text_facts(), {}, gpus(1)),
                       "for optimizer.kind=sgd; muon's is optimizer.muon_nesterov"));
}

TEST(MuonPlan, WarnsOfAnOriginalRateThatIsAdamWsToo) {
  const auto warns = [](const TrainOptions& options) {
    return has_note(make_plan(options, text_facts(), {}, gpus(1)), "set optimizer.adamw_lr");
  };
  MuonPlanOptions options;
  EXPECT_FALSE(warns(options));
  options.optimizer.muon_adjust_lr = MuonAdjustLr::original;
  EXPECT_TRUE(warns(options));
  options.optimizer.adamw_lr = 3e-4;
  EXPECT_FALSE(warns(options));
}

// By the recipes' formula: 16 bytes a parameter, of which the optimizer needs 8.
MemoryEstimate formula(const Facts& facts) {
  const auto elements = static_cast<double>(facts.parameters);
  return {.fixed_bytes = 16 * elements, .per_sample_bytes = 1e6, .optimizer_bytes = 8 * elements};
}

// Shards as long as the one large matrix: every rank holds weights and gradients of four of them.
TEST(MuonPlan, ClaimsNoSavingsOfShardsThatSaveNothing) {
  const Facts facts = facts_of({{.name = "words", .sizes = {64, 8}, .use = ParameterUse::embedding},
                                {.name = "large", .sizes = {2048, 2048}},
                                {.name = "small", .sizes = {64, 64}}});
  MuonPlanOptions options;
  const auto plan = [&] { return make_plan(options, facts, formula(facts), gpus(4)); };
  EXPECT_LT(plan().sharding_saves_bytes, 0);
  EXPECT_FALSE(contains(memory_help(plan(), options, 1), "shard_optimizer"));
  const double alone = plan().memory.fixed_bytes;
  options.shard_optimizer = true;
  EXPECT_DOUBLE_EQ(plan().sharding_saves_bytes, alone - plan().memory.fixed_bytes);
  EXPECT_TRUE(has_note(plan(), "which saves no memory"));
}

// In one bucket 64 equal matrices fill the shards of four ranks.
TEST(MuonPlan, CountsWhatShardsOfManyMatricesSave) {
  std::vector<OptimizedParameter> all;
  for (int i = 0; i < 64; ++i)
    all.push_back({.name = "up." + std::to_string(i), .sizes = {512, 512}});
  const Facts facts = facts_of(all);
  MuonPlanOptions options;
  options.reduce_bucket_mb = 1000;
  const auto plan = [&] { return make_plan(options, facts, formula(facts), gpus(4)); };
  const double saves = plan().sharding_saves_bytes;
  const auto elements = static_cast<double>(facts.parameters);
  EXPECT_NEAR(saves, 4 * elements * 3 / 4, 1);
  EXPECT_TRUE(contains(memory_help(plan(), options, 1), "shard_optimizer=true (about "));
  const double alone = plan().memory.fixed_bytes;
  options.shard_optimizer = true;
  EXPECT_NEAR(plan().memory.fixed_bytes, alone - saves, 1);
}

}  // namespace
}  // namespace lockstep
