// The states of rules, the parameters that muon updates, and shards that hold whole matrices.
#include "planning/options/optimizers.h"

#include "fakes/error_of.h"
#include "plan_fixtures.h"
#include "planning/batch/buckets.h"
#include "planning/memory/memory.h"
#include "planning/run_setup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <set>

namespace lockstep {
namespace {

using Kinds = std::vector<Granularity>;
constexpr Granularity cut_anywhere = Granularity::range, kept_whole = Granularity::matrix;

Kinds of_muon(const std::vector<OptimizedParameter>& parameters) {
  return granularities(OptimizerKind::muon, parameters);
}

std::vector<OptimizedParameter> marked() {
  return {{.name = "words", .sizes = {50, 8}, .use = ParameterUse::embedding},
          {.name = "up", .sizes = {32, 8}},
          {.name = "up.bias", .sizes = {32}},
          {.name = "down", .sizes = {8, 32}},
          {.name = "filter", .sizes = {8, 8, 3, 3}},
          {.name = "head", .sizes = {50, 8}, .use = ParameterUse::head}};
}

TEST(MuonParameters, AreMatricesThatAreNoEmbeddingHeadVectorOrConvolution) {
  EXPECT_EQ(of_muon(marked()), (Kinds{cut_anywhere, kept_whole, cut_anywhere, kept_whole,
                                      cut_anywhere, cut_anywhere}));
}

TEST(MuonParameters, AreNotTied) {
  std::vector<OptimizedParameter> all = marked();
  all[1].tied = true;
  EXPECT_EQ(of_muon(all)[1], cut_anywhere);
  EXPECT_EQ(of_muon(all)[3], kept_whole);
}

TEST(MuonParameters, WithoutMarksLeaveOutTheFirstAndTheLastMatrix) {
  std::vector<OptimizedParameter> all = marked();
  EXPECT_FALSE(guess_uses(all));
  for (OptimizedParameter& one : all) one.use = ParameterUse::usual;
  all.insert(all.begin(), {.name = "scale", .sizes = {8}});
  const auto guessed = guess_uses(all);
  ASSERT_TRUE(guessed);
  EXPECT_EQ(all[guessed->embedding].name, "words");
  EXPECT_EQ(all[guessed->head].name, "head");
  const auto of_one = guess_uses({{.name = "only", .sizes = {4, 4}}});
  ASSERT_TRUE(of_one);
  EXPECT_EQ(of_one->embedding, of_one->head);
  EXPECT_FALSE(guess_uses({{.name = "vector", .sizes = {4}}}));
}

TEST(Granularities, OfOtherRulesLetShardsCutAnywhere) {
  for (const OptimizerKind kind : {OptimizerKind::adamw, OptimizerKind::adam, OptimizerKind::sgd})
    for (const Granularity one : granularities(kind, marked())) EXPECT_NE(one, kept_whole);
}

// Checkpoints tell kinds apart by their states (training/checkpoint/restore.cpp); adam and adamw
// take each other's.
TEST(OptimizerStates, DifferBetweenKinds) {
  std::set<std::vector<std::string>> seen;
  for (const auto& [kind, word] : EnumNames<OptimizerKind>::value) {
    if (kind == OptimizerKind::adam) continue;
    TrainOptions options;
    options.optimizer.kind = kind;
    options.optimizer.momentum = 0.9;
    std::vector<std::string> names;
    for (const OptimizerState& state : optimizer_states(options)) names.push_back(state.name);
    EXPECT_TRUE(seen.insert(names).second) << word;
  }
}

TEST(OptimizerStates, OfMuonBelongToMatricesOrToTheRest) {
  TrainOptions options;
  options.optimizer.kind = OptimizerKind::muon;
  std::vector<std::string> of_matrices, of_others;
  for (const OptimizerState& state : optimizer_states(options)) {
    if (state.is_of(kept_whole)) of_matrices.push_back(state.name);
    if (state.is_of(cut_anywhere)) of_others.push_back(state.name);
  }
  EXPECT_EQ(of_matrices, std::vector<std::string>{"momentum_buffer"});
  EXPECT_EQ(of_others, (std::vector<std::string>{"exp_avg", "exp_avg_sq"}));
}

TEST(OptimizerOptions, RefuseARateOfAdamWBesideNone) {
  TrainOptions options;
  options.optimizer.kind = OptimizerKind::muon;
  options.optimizer.adamw_lr = 1e-3;
  check_optimizer(options);
  options.optimizer.lr = 0;
  EXPECT_THAT(error_of([&] { check_optimizer(options); }),
              ::testing::HasSubstr("optimizer.lr, which must be above 0"));
}

// Checkpoints do not hold the layout, but runs must not change: those of before muon.
TEST(Layouts, OfKindsThatCutAnywhereStayWhereTheyWere) {
  const std::vector<std::int64_t> sizes{38'597'376, 786'432, 768, 1'769'472, 768, 2'359'296, 5};
  const ArenaLayout alone = lay_out(sizes);
  EXPECT_EQ(alone.offsets, (std::vector<std::int64_t>{4'916'800, 4'130'368, 4'129'600, 2'360'128,
                                                      2'359'360, 64, 0}));
  EXPECT_EQ(alone.elements, 43'514'176);
  const ArenaLayout of_four = lay_out(sizes, 4 * arena_alignment);
  EXPECT_EQ(of_four.offsets, (std::vector<std::int64_t>{4'916'992, 4'130'560, 4'129'792, 2'360'320,
                                                        2'359'552, 256, 0}));
  std::vector<std::int64_t> ends;
  for (const Bucket& bucket : cut_buckets(of_four, sizes)) ends.push_back(bucket.end);
  EXPECT_EQ(ends, (std::vector<std::int64_t>{256, 2'360'320, 4'130'560, 4'916'992, 43'514'368}));
  EXPECT_EQ(alone.ends.front(), alone.elements);
  EXPECT_EQ(alone.ends.back(), alone.offsets[5]);
}

// Blocks of matrices with vectors between them, behind two large tables.
struct Blocks {
  std::vector<std::int64_t> sizes{1 << 20, 1 << 18};
  std::vector<bool> whole{false, false};
  explicit Blocks(int blocks) {
    for (int block = 0; block < blocks; ++block)
      for (const std::int64_t size : {300, 30'000, 10'000, 300, 40'000, 40'000}) {
        sizes.push_back(size);
        whole.push_back(size > 300);
      }
  }
};

TEST(WholeLayout, CutsNoMatrixAndLeavesLittleEmpty) {
  const Blocks blocks(12);
  for (const std::int64_t ranks : {2, 3, 4, 8})
    for (const std::int64_t bytes : {std::int64_t{1} << 18, usual_bucket_bytes}) {
      const BucketedLayout made = lay_out_whole(blocks.sizes, blocks.whole, ranks, bytes);
      std::int64_t at = 0;
      std::vector<int> seen(blocks.sizes.size());
      for (const Bucket& bucket : made.buckets) {
        EXPECT_EQ(bucket.begin, at);
        at = bucket.end;
        ASSERT_EQ((bucket.end - bucket.begin) % (ranks * arena_alignment), 0);
        const std::int64_t shard = (bucket.end - bucket.begin) / ranks;
        std::int64_t last = bucket.begin;
        for (const std::int64_t p : bucket.parameters) {
          const auto i = static_cast<std::size_t>(p);
          const std::int64_t begin = made.layout.offsets[i], end = made.layout.ends[i];
          EXPECT_GE(begin, last);  // in the order of their places, none upon another
          EXPECT_EQ(begin % arena_alignment, 0);
          EXPECT_GE(end, begin + blocks.sizes[i]);
          last = end;
          ++seen[i];
          if (blocks.whole[i])
            EXPECT_EQ((begin - bucket.begin) / shard, (end - 1 - bucket.begin) / shard) << i;
        }
        EXPECT_LE(last, bucket.end);
      }
      EXPECT_EQ(at, made.layout.elements);
      EXPECT_THAT(seen, ::testing::Each(1));
      std::int64_t elements = 0;
      for (const std::int64_t size : blocks.sizes) elements += size;
      EXPECT_LE(static_cast<double>(made.layout.elements), 1.2 * static_cast<double>(elements))
          << ranks << " ranks";
    }
}

Facts muon_facts() {
  Facts facts = text_facts();
  facts.parameters = 0;
  for (const OptimizedParameter& one : facts.optimized = marked())
    facts.parameters += one.elements();
  return facts;
}

TEST(MuonMemory, CountsStatesOfEachParameterAndTheWorkspace) {
  TrainOptions options;
  options.precision = Precision::fp32;
  options.optimizer.kind = OptimizerKind::muon;
  const Facts facts = muon_facts();
  const double elements = static_cast<double>(facts.parameters), matrices = 2 * 32 * 8;
  const MemoryEstimate uniform{.fixed_bytes = elements * 16, .optimizer_bytes = elements * 8};
  const MemoryEstimate counted = with_rules(uniform, options, facts, 1);
  EXPECT_DOUBLE_EQ(counted.optimizer_bytes, elements * 8 - matrices * 4);
  const double workspace = 16 * 256 + 4 * 64;
  EXPECT_DOUBLE_EQ(counted.fixed_bytes, elements * 16 - matrices * 4 + workspace);
  options.shard_optimizer = true;
  const MemoryEstimate shared = with_rules(uniform, options, facts, 2);
  EXPECT_GE(shared.optimizer_bytes, counted.optimizer_bytes);  // of the rank that keeps most
  EXPECT_GT(shared.fixed_bytes, counted.fixed_bytes);
  EXPECT_DOUBLE_EQ(with_rules(uniform, options, text_facts(), 2).fixed_bytes, uniform.fixed_bytes);
}

// Many matrices of a shape are updated at once on a GPU, as far as 128 MiB of bf16 go.
TEST(MuonMemory, CountsBatchesOfMatrices) {
  EXPECT_EQ(muon_batch(1, 64), 1);
  EXPECT_EQ(muon_batch(12, 768 * 768), 12);
  EXPECT_EQ(muon_batch(48, 1600 * 6400), 6);
  EXPECT_EQ(muon_batch(7, std::int64_t{1} << 24), 4);  // 4 and 3
  EXPECT_EQ(muon_batch(3, std::int64_t{1} << 40), 1);
  EXPECT_EQ(muon_batch(10000, 16), 3334);  // of 4096 at most
  TrainOptions options;
  options.optimizer.kind = OptimizerKind::muon;
  std::vector<OptimizedParameter> layers(10, {.name = "up", .sizes = {32, 8}});
  layers.push_back({.name = "other", .sizes = {16, 16}});
  EXPECT_DOUBLE_EQ(update_workspace_bytes(options, layers), 10 * (4 * 256 + 4 * 64));
}

}  // namespace
}  // namespace lockstep
