// The model computes with other weights for a while, on one rank and where ranks share the update.
#include "training/update/shown_weights.h"

#include "fakes/thread_ranks.h"
#include "fakes/toy_recipe.h"

#include <gtest/gtest.h>

#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>

#include <stdexcept>

namespace lockstep {
namespace {

constexpr at::ScalarType both_dtypes[] = {at::kFloat, at::kBFloat16};

// This rank's shards of a flat buffer [elements], one behind the other: f32 [own_elements].
at::Tensor own_of(const ParameterStorage& storage, const at::Tensor& flat) {
  at::Tensor own = at::full({storage.own_elements()}, -1.0, storage.master().options());
  for (const Shard& shard : storage.own())
    own.narrow(0, shard.offset, shard.size())
        .copy_(storage.range(flat, shard, shard.begin, shard.end));
  return own;
}

// Other weights than the model's, exact in bf16: 0, 1, 2, … and again.
at::Tensor others_of(const ParameterStorage& storage) {
  return at::arange(storage.elements(), storage.master().options()).remainder(128);
}

TEST(ShownWeights, AreWhatTheModelComputesWithOnEveryRankUntilTheirEnd) {
  for (const at::ScalarType dtype : both_dtypes)
    for (const int ranks : {1, 3})
      testing::with_ranks(ranks, [&](ProcessGroup& group) {
        testing::ToyModel model(1);
        ParameterStorage storage(model.parameters(), at::kCPU, dtype, &group);
        const at::Tensor own = model.first.clone(), others = others_of(storage);
        ShownWeights shown(storage, own_of(storage, others));
        for (std::size_t i = 0; i < storage.parameters().size(); ++i)
          EXPECT_TRUE(storage.parameters()[i].tensor.equal(storage.view(others, i).to(dtype)));
        shown.end();
        EXPECT_TRUE(model.first.equal(own));
        EXPECT_TRUE(model.first.is_alias_of(storage.weights()));
      });
}

TEST(ShownWeights, OfFp32OnOneRankAreNotCopied) {
  testing::ToyModel model(1);
  ParameterStorage storage(model.parameters(), at::kCPU, at::kFloat);
  const at::Tensor others = others_of(storage);
  const ShownWeights shown(storage, others);
  EXPECT_TRUE(model.first.is_alias_of(others));
}

TEST(ShownWeights, GoWhereAnExceptionPasses) {
  for (const at::ScalarType dtype : both_dtypes) {
    testing::ToyModel model(1);
    ParameterStorage storage(model.parameters(), at::kCPU, dtype);
    const at::Tensor own = model.first.clone();
    try {
      const ShownWeights shown(storage, others_of(storage));
      throw std::runtime_error("an evaluation failed");
    } catch (const std::runtime_error&) {
    }
    EXPECT_TRUE(model.first.equal(own));
  }
}

// The other rank has no exception and makes no further collective, so waiting for it would fail.
TEST(ShownWeights, DoNotWaitForRanksWhereAnExceptionPassesOnOneOfThem) {
  testing::with_ranks(2, [](ProcessGroup& group) {
    testing::ToyModel model(1);
    ParameterStorage storage(model.parameters(), at::kCPU, at::kFloat, &group);
    const at::Tensor own = model.first.clone();
    try {
      ShownWeights shown(storage, own_of(storage, others_of(storage)));
      if (group.rank() == 1) throw std::runtime_error("its data cannot be read");
      shown.end();
    } catch (const std::runtime_error&) {
    }
    EXPECT_TRUE(model.first.equal(own));
  });
}

TEST(ShownWeights, LeaveARanksOwnShardsInLowPrecisionWhereAnExceptionPasses) {
  testing::with_ranks(2, [](ProcessGroup& group) {
    testing::ToyModel model(1);
    ParameterStorage storage(model.parameters(), at::kCPU, at::kBFloat16, &group);
    const at::Tensor own = own_of(storage, storage.weights());
    try {
      const ShownWeights shown(storage, own_of(storage, others_of(storage)));
      EXPECT_FALSE(own_of(storage, storage.weights()).equal(own));
      throw std::runtime_error("all ranks throw, and none gathers");
    } catch (const std::runtime_error&) {
    }
    EXPECT_TRUE(own_of(storage, storage.weights()).equal(own));
  });
}

}  // namespace
}  // namespace lockstep
