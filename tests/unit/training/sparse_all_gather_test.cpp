// Gradients of tables: rows that the ranks bring together, and which pieces of them are clean.
#include "training/gradients/sparse_all_gather.h"
#include "training/gradients/reducer.h"

#include "core/base/error.h"
#include "fakes/delayed_work.h"
#include "fakes/plan_steps.h"
#include "fakes/thread_ranks.h"
#include "ops/embedding/embedding_sum.h"

#include <gtest/gtest.h>

#include <ATen/Context.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

namespace lockstep {
namespace {

constexpr std::int64_t words = 6000, row_width = 50;  // 1.2 MB in fp32

// A table, and parameters before and behind it in the same bucket.
class TableModel : public Model {
 public:
  std::vector<Parameter> parameters() override {
    return {{"behind", behind}, {"table", table}, {"before", before}, {"small", small}};
  }
  at::Tensor behind = at::ones({30}).set_requires_grad(true);
  at::Tensor table = at::ones({words, row_width}).set_requires_grad(true);
  at::Tensor before = at::ones({70}).set_requires_grad(true);
  at::Tensor small = at::ones({20, row_width}).set_requires_grad(true);
};
constexpr std::size_t table_index = 1, small_index = 3;

// Rows that differ by rank; some twice, some on all ranks.
at::Tensor rows_of(int rank, std::int64_t count) {
  return at::arange(count).mul(rank + 1).remainder(20);
}

// Gradient of row n: n plus the rank.
at::Tensor loss_of(const TableModel& model, const at::Tensor& table, int rank, std::int64_t count) {
  const at::Tensor rows = rows_of(rank, count);
  const at::Tensor each = at::arange(count).add(rank).unsqueeze(1).to(at::kBFloat16);
  const at::Tensor sum = embedding_sum({{.rows = rows, .table = table}});
  return (sum * each).sum() + model.before.sum() * (rank + 1) + model.behind.sum() * (rank + 2);
}

struct Rank {
  explicit Rank(ProcessGroup& group_in, ReducePrecision reduce = ReducePrecision::fp32)
      : storage(model.parameters(), at::kCPU, at::kBFloat16),
        gradients(storage),
        group(group_in),
        reducer(gradients, group, reduce) {
    gradients.dirty().track();
  }
  // Its gradients, summed over the ranks.
  at::Tensor step(const std::function<at::Tensor()>& loss) {
    gradients.zero();
    gradients.begin_step();
    reducer.arm();
    loss().backward();
    gradients.zero_fill_missing();
    if (!gradients.plan().observed) testing::plan_steps(gradients, /*reads_low_sums=*/true);
    own_of_table = storage.view(gradients.flat(), table_index).clone();
    reducer.flush();
    at::Tensor told = at::zeros({storage.elements()});
    reducer.wait([&](const at::Tensor& range) {
      told.narrow(0, range.storage_offset(), range.numel()).add_(range);
    });
    at::Tensor sums = at::zeros({storage.elements()});
    for (std::size_t i = 0; i < storage.parameters().size(); ++i)
      storage.view(sums, i).copy_(storage.view(gradients.sums_of(i), i));
    EXPECT_TRUE(group.size() == 1 || told.equal(sums));  // every part, once, when its sum is there
    return sums;
  }
  at::Tensor step(std::int64_t count) {
    return step([&] { return loss_of(model, model.table, group.rank(), count); });
  }
  // The plan of a capture of a step like the last one.
  void plan_rows(SparseAllGather& exchange) {
    UpdatePlan plan = gradients.plan();
    const SparseAllGather::AgreedRows rows = exchange.agree(exchange.counts());
    for (std::size_t i = 0; i < rows.size(); ++i) plan.parameters[i].rows_of_ranks = rows[i];
    testing::use_plan(gradients, std::move(plan));
  }
  at::Tensor captured(const std::function<at::Tensor()>& loss) {
    const UpdatePlan eager = gradients.plan();
    plan_rows(reducer.rows());
    reducer.rows().begin();
    const auto end = [&] {
      reducer.rows().end();
      testing::use_plan(gradients, eager);
    };
    try {
      const at::Tensor sums = step(loss);
      end();
      return sums;
    } catch (const Error&) {
      end();
      reducer.reset();
      throw;
    }
  }
  at::Tensor captured(std::int64_t count) {
    return captured([&] { return loss_of(model, model.table, group.rank(), count); });
  }

  TableModel model;
  ParameterStorage storage;
  GradientBuffers gradients;
  ProcessGroup& group;
  Reducer reducer;
  at::Tensor own_of_table;  // before the sum
};

class SparseAllGatherIn : public ::testing::TestWithParam<ReducePrecision> {};
INSTANTIATE_TEST_SUITE_P(Precisions, SparseAllGatherIn,
                         ::testing::Values(ReducePrecision::fp32, ReducePrecision::bf16));

TEST_P(SparseAllGatherIn, BringsTogetherWhatTheTablesSumIs) {
  for (const int ranks : {2, 3})
    testing::with_ranks(ranks, [](ProcessGroup& group) {
      Rank rank(group, GetParam());
      const std::int64_t count = 5 + 2 * group.rank();
      const at::Tensor whole = rank.step(count);
      EXPECT_GT(rank.own_of_table.abs().sum().item<float>(), 0);
      const at::Tensor by_rows = rank.captured(count);
      EXPECT_EQ(rank.own_of_table.abs().sum().item<float>(), 0);  // they went as rows
      EXPECT_TRUE(by_rows.equal(whole));
      EXPECT_TRUE(rank.step(count).equal(whole));
    });
}

TEST(SparseAllGather, TakesRowsOfSeveralPasses) {
  testing::with_ranks(2, [](ProcessGroup& group) {
    Rank rank(group);
    const auto twice = [&] {
      loss_of(rank.model, rank.model.table, group.rank(), 4).backward();
      return loss_of(rank.model, rank.model.table, group.rank(), 3);
    };
    const at::Tensor whole = rank.step(twice);
    EXPECT_TRUE(rank.captured(twice).equal(whole));
  });
}

TEST(SparseAllGather, TakesATableThatOneOperationReadsTwice) {
  testing::with_ranks(2, [](ProcessGroup& group) {
    Rank rank(group);
    const auto both = [&] {
      const at::Tensor& table = rank.model.table;
      return embedding_sum({{.rows = rows_of(group.rank(), 6), .table = table},
                            {.rows = rows_of(group.rank() + 1, 6), .table = table}})
          .sum();
    };
    const at::Tensor whole = rank.step(both);
    EXPECT_TRUE(rank.captured(both).equal(whole));
    EXPECT_EQ(rank.own_of_table.abs().sum().item<float>(), 0);
    EXPECT_EQ(rank.storage.view(whole, table_index).sum().item<float>(), 2 * 2 * 6 * row_width);
  });
}

TEST(SparseAllGather, ARankWithoutRowsGetsThoseOfTheOthers) {
  testing::with_ranks(2, [](ProcessGroup& group) {
    Rank rank(group);
    const std::int64_t count = group.rank() == 0 ? 0 : 7;
    const at::Tensor whole = rank.step(count);
    EXPECT_TRUE(rank.captured(count).equal(whole));
    EXPECT_EQ(rank.own_of_table.abs().sum().item<float>(), 0);
    EXPECT_GT(rank.storage.view(whole, table_index).abs().sum().item<float>(), 0);
  });
}

TEST(SparseAllGather, LeavesAloneWhatItWouldNotPayFor) {
  testing::with_ranks(2, [](ProcessGroup& group) {
    Rank rank(group);
    SparseAllGather exchange(rank.gradients, group);
    bool takes_small = false;
    const auto takes = [&](const std::function<at::Tensor()>& loss) {
      rank.step(loss);
      const UpdatePlan eager = rank.gradients.plan();
      rank.plan_rows(exchange);
      EXPECT_FALSE(exchange.takes(table_index));  // not before the capture
      exchange.begin();
      const bool takes_table = exchange.takes(table_index);
      takes_small = exchange.takes(small_index);
      exchange.end();
      EXPECT_FALSE(exchange.takes(table_index));
      testing::use_plan(rank.gradients, eager);
      return takes_table;
    };
    EXPECT_TRUE(takes([&] { return loss_of(rank.model, rank.model.table, group.rank(), 10); }));
    // As many rows as the table has.
    EXPECT_FALSE(takes([&] { return loss_of(rank.model, rank.model.table, group.rank(), 1600); }));
    // A table that is small.
    EXPECT_FALSE(takes([&] { return loss_of(rank.model, rank.model.small, group.rank(), 1); }));
    EXPECT_FALSE(takes_small);
    // On one rank it is also something else.
    EXPECT_FALSE(takes([&] {
      at::Tensor loss = loss_of(rank.model, rank.model.table, group.rank(), 10);
      return group.rank() == 1 ? loss + rank.model.table.square().sum() : loss;
    }));
    EXPECT_FALSE(takes([&] { return loss_of(rank.model, rank.model.table, group.rank(), 10); }));
  });
}

TEST(SparseAllGather, InAFixedOrderTablesAreSummedAsTheyAre) {
  at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/false);
  testing::with_ranks(2, [](ProcessGroup& group) {
    Rank rank(group);
    const at::Tensor whole = rank.step(6);
    EXPECT_TRUE(rank.captured(6).equal(whole));
    EXPECT_GT(rank.own_of_table.abs().sum().item<float>(), 0);
  });
  at::globalContext().setDeterministicAlgorithms(false, false);
}

TEST(SparseAllGather, RefusesOtherRowsThanWereAgreedOn) {
  testing::with_ranks(2, [](ProcessGroup& group) {
    Rank rank(group);
    rank.step(5);
    EXPECT_THROW(rank.captured(6), Error);  // on both ranks: neither waits for the other
  });
}

// The update of a table goes on beside the backward pass, and ends with zeros.
TEST(ATablesGradient, ComesAfterThatOfTheStepBeforeWasRead) {
  testing::with_ranks(1, [](ProcessGroup& group) {
    Rank rank(group);
    const at::Tensor expected = rank.step(5);
    const at::Tensor gradient = rank.storage.view(rank.gradients.flat(), table_index);
    int done = 0;
    testing::DelayedWork side(done);
    at::Tensor read;
    const auto read_beside = [&] {
      const std::int64_t number = side.run({}, [&] {
        read = gradient.clone();
        gradient.zero_();
      });
      rank.gradients[table_index].set_reader([&side, number] { side.wait(number); });
    };
    read_beside();
    loss_of(rank.model, rank.model.table, 0, 5).backward();
    EXPECT_EQ(done, 1);
    EXPECT_TRUE(read.equal(rank.storage.view(expected, table_index)));
    EXPECT_TRUE(gradient.equal(read));
    // Without rows it is read and zeroed all the same before anybody else sees it.
    read_beside();
    rank.gradients.place();
    EXPECT_EQ(done, 2);
    EXPECT_EQ(gradient.abs().sum().item<float>(), 0);
    rank.gradients.place();
    EXPECT_EQ(done, 2);
  });
}

void find_dirty(Rank& rank, const at::Tensor& flat) {
  rank.gradients.dirty().forget();
  rank.gradients.find_dirty({flat});
}

// Where a gradient may be, given the whole one.
void expect_dirty(const Rank& rank, const at::Tensor& gradients) {
  const at::Tensor flags = rank.gradients.dirty().flags();
  for (std::int64_t piece = 0; piece < flags.size(0); ++piece) {
    const std::int64_t begin = piece * dirty_piece;
    const std::int64_t end = std::min(begin + dirty_piece, gradients.size(0));
    if (gradients.slice(0, begin, end).ne(0).any().item<bool>())
      EXPECT_EQ(flags[piece].item<int>(), 1) << piece;
  }
}

std::int64_t clean_pieces(const Rank& rank) {
  return rank.gradients.dirty().flags().eq(0).sum().item<int64_t>();
}

TEST(DirtyPieces, AreThoseOfRowsThatSomeStepHad) {
  testing::with_ranks(2, [](ProcessGroup& group) {
    Rank rank(group);
    EXPECT_EQ(clean_pieces(rank), 0);  // as long as nobody knows better
    const at::Tensor first = rank.step(5);
    find_dirty(rank, first);
    expect_dirty(rank, first);
    const std::int64_t before = clean_pieces(rank);
    EXPECT_GT(before, words * row_width / dirty_piece - 5);
    // Rows of the other rank count, too.
    expect_dirty(rank, rank.captured(5));
    // Others, of this rank alone: far behind.
    const auto far = [&] {
      const at::Tensor rows = at::full({5}, 5000 + 300 * group.rank(), at::kLong);
      return embedding_sum({{.rows = rows, .table = rank.model.table}}).sum();
    };
    expect_dirty(rank, rank.captured(far));
    EXPECT_LT(clean_pieces(rank), before);
    EXPECT_GT(clean_pieces(rank), before - 6);
  });
}

TEST(DirtyPieces, AreAllWhereTheWholeTableIsSummedOrAnythingElseIsAdded) {
  testing::with_ranks(2, [](ProcessGroup& group) {
    Rank rank(group);
    const at::Tensor first = rank.step(5);
    find_dirty(rank, first);
    EXPECT_GT(clean_pieces(rank), 0);
    rank.step(5);  // as it is
    EXPECT_EQ(clean_pieces(rank), 0);
    rank.step([&] { return rank.model.table.square().sum(); });
    find_dirty(rank, first);
    EXPECT_EQ(clean_pieces(rank), 0);
  });
}

TEST(DirtyPieces, ARowThatIsNoNumberIsDirty) {
  testing::with_ranks(1, [](ProcessGroup& group) {
    Rank rank(group);
    rank.step(5);
    at::Tensor flat = at::zeros({rank.storage.elements()});
    flat[rank.storage.places()[table_index].begin + 100000] = std::nan("");
    find_dirty(rank, flat);
    EXPECT_EQ(rank.gradients.dirty()
                  .flags()[(rank.storage.places()[table_index].begin + 100000) / dirty_piece]
                  .item<int>(),
              1);
    EXPECT_GT(clean_pieces(rank), 0);
  });
}

}  // namespace
}  // namespace lockstep
