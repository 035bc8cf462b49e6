// Records of any length, and how they come together.
#include "training/recipe/records.h"

#include "core/base/text/text.h"
#include "fakes/error_of.h"
#include "fakes/thread_ranks.h"
#include "fakes/toy_recipe.h"
#include "training/distributed/gather_on_host.h"
#include "training/evaluation/evaluator.h"

#include <gtest/gtest.h>

#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>

#include <cmath>
#include <mutex>

namespace lockstep {
namespace {

TEST(Records, HoldRecordsOfAnyLength) {
  const Records records({at::arange(3, at::kLong), at::empty({0}), at::full({2, 2}, 7.5)});
  EXPECT_EQ(records.size(), 3);
  EXPECT_EQ(records.length(1), 0);
  EXPECT_EQ(records[0].scalar_type(), at::kDouble);
  EXPECT_TRUE(records[0].equal(at::arange(3, at::kDouble)));
  EXPECT_TRUE(records[2].view({2, 2}).equal(at::full({2, 2}, 7.5, at::kDouble)));
  EXPECT_EQ(records.offsets(), (std::vector<std::int64_t>{0, 3, 3, 7}));
}

TEST(Records, OfOneLengthAreOneTable) {
  const at::Tensor rows = at::arange(6, at::kDouble).view({3, 2});
  EXPECT_TRUE(Records(rows).dense().equal(rows));
  EXPECT_TRUE(Records(rows.unbind(0)).dense().equal(rows));
  EXPECT_EQ(Records().dense().size(0), 0);
}

TEST(Records, OfDifferentLengthsAreNoTable) {
  const Records records({at::arange(2), at::arange(3)});
  EXPECT_EQ(
      error_of([&] { (void)records.dense(); }),
      "the record of sample 1 of the evaluation has 3 numbers, that of sample 0 has 2 | where "
      "they differ, metrics must read them one by one: records[i]");
}

TEST(Gather, BringsEveryNumberToAllBitForBitInPiecesOfAnySize) {
  const at::Tensor all = at::arange(11, at::kDouble).mul_(-0.1);
  all[0] = -0.0;
  all[7] = std::nan("");
  for (const std::int64_t piece_bytes : {8, 24, 1 << 20})
    testing::with_ranks(3, [&](ProcessGroup& group) {
      const std::int64_t begin[] = {0, 2, 9};
      const std::int64_t end[] = {2, 9, 11};
      const int rank = group.rank();
      const at::Tensor own = all.narrow(0, begin[rank], end[rank] - begin[rank]).clone();
      const at::Tensor got = gather_on_host(own, begin[rank], 11, group, piece_bytes);
      EXPECT_TRUE(got.view(at::kLong).equal(all.view(at::kLong))) << got;
    });
}

TEST(Gather, BringsTheBytesOfAllRanksToRankZero) {
  for (const std::int64_t piece_bytes : {8, 1 << 20})
    testing::with_ranks(3, [&](ProcessGroup& group) {
      const std::vector<std::string> texts{"a picture of nothing", "", std::string("\0\xff!", 3)};
      const auto own = static_cast<std::size_t>(group.rank());
      const std::vector<std::string> got = collect_on_host(texts[own], group, piece_bytes);
      EXPECT_EQ(got, own == 0 ? texts : std::vector<std::string>());
    });
}

// Sample i has a record of i % 4 rows of two numbers: (i, its row).
class Detections : public testing::ToyRecipe {
 public:
  std::vector<at::Tensor> evaluate_items(Model&, const Batch& batch,
                                         StepContext& context) override {
    std::vector<at::Tensor> records;
    for (std::int64_t row = 0; row < batch.size(); ++row) {
      const std::int64_t sample = batch.first_global_row + row, count = sample % 4;
      at::Tensor record = at::empty({count, 2}, at::kFloat);
      record.select(1, 0).fill_(static_cast<double>(sample));
      record.select(1, 1).copy_(at::arange(count));
      records.push_back(record);
      if (context.output != nullptr && batch.row_weight[row].item<float>() > 0)
        context.output->picture(cat("sample-", sample), "txt", cat("picture of ", sample));
    }
    return records;
  }
  std::vector<Metric> metrics(const Records& records) const override {
    return {{"numbers", static_cast<double>(records.values().numel()), "", true}};
  }
  ItemTable items(const Records& records, EvaluationOutput& output) const override {
    ItemTable table{.columns = {"sample", "row"}, .rows = {}};
    for (std::int64_t i = 0; i < records.size(); ++i) {
      const at::Tensor rows = records[i].view({-1, 2});
      for (std::int64_t row = 0; row < rows.size(0); ++row)
        table.rows.push_back({static_cast<std::int64_t>(rows[row][0].item<double>()),
                              static_cast<std::int64_t>(rows[row][1].item<double>())});
    }
    output.table("again", table);
    return table;
  }
};

struct Seen {
  double numbers = 0;
  std::string csv, files;
};

Seen evaluate_detections(int ranks, std::int64_t samples, std::int64_t batch) {
  Seen seen;
  std::mutex mutex;
  testing::with_ranks(ranks, [&](ProcessGroup& group) {
    Detections recipe;
    const auto model = recipe.build(1);
    const testing::ToyData data(samples);
    EvaluationOutput output("/nowhere", 5, {.pictures = 4});
    const Evaluation result = evaluate(recipe, *model, data, group, cpu_backend(),
                                       {.seed = 1, .batch = batch, .output = &output});
    const std::lock_guard lock(mutex);
    if (group.rank() == 0) {
      seen.csv = to_csv(output.items());
      for (const EvaluationOutput::File& file : output.files()) seen.files += file.name + " ";
    }
    if (seen.numbers != 0) EXPECT_EQ(result.metrics[0].value, seen.numbers);
    seen.numbers = result.metrics[0].value;
  });
  return seen;
}

TEST(Evaluate, GathersRecordsOfAnyLengthInOrderOnAnyNumberOfRanks) {
  const Seen one = evaluate_detections(1, 11, 4);
  EXPECT_EQ(one.numbers, 2 * (0 + 1 + 2 + 3 + 0 + 1 + 2 + 3 + 0 + 1 + 2));
  EXPECT_EQ(one.csv.substr(0, 24), "sample,row\n1,0\n2,0\n2,1\n3");
  EXPECT_EQ(one.files, "sample-0.txt sample-1.txt sample-2.txt sample-3.txt again.csv again.json ");
  for (const int ranks : {2, 3, 4}) {
    const Seen many = evaluate_detections(ranks, 11, 4);
    EXPECT_EQ(many.csv, one.csv) << ranks;
    EXPECT_EQ(many.files, one.files) << ranks;
    EXPECT_EQ(many.numbers, one.numbers) << ranks;
  }
}

// Runs out of memory after its first batch, where more than two rows are asked for at once.
class ShortOfMemory : public Detections {
 public:
  std::vector<at::Tensor> evaluate_items(Model& model, const Batch& batch,
                                         StepContext& context) override {
    TORCH_CHECK_WITH(OutOfMemoryError, batch.size() <= 2 || batch.first_global_row == 0,
                     "no memory");
    return Detections::evaluate_items(model, batch, context);
  }
};

TEST(Evaluate, KeepsNoPictureTwiceWhereItBeginsAgainForWantOfMemory) {
  testing::with_ranks(2, [&](ProcessGroup& group) {
    ShortOfMemory small;
    Detections large;
    Detections& recipe = group.rank() == 0 ? small : large;
    EvaluationOutput output("/nowhere", 5);
    evaluate(recipe, *recipe.build(1), testing::ToyData(11), group, cpu_backend(),
             {.seed = 1, .batch = 4, .output = &output});
    if (group.rank() != 0) return;
    EXPECT_EQ(output.files().size(), 11U + 2U);
    EXPECT_EQ(output.problems(), std::vector<std::string>());
  });
}

TEST(Evaluate, GathersWhereSomeRanksHaveNothing) {
  EXPECT_EQ(evaluate_detections(4, 2, 3).numbers, 2);
}

TEST(Evaluate, NamesRecordsThatAreNotOnePerRow) {
  class OneForAll : public testing::ToyRecipe {
    std::vector<at::Tensor> evaluate_items(Model&, const Batch&, StepContext&) override {
      return {at::arange(3)};
    }
  } items;
  class FlatRows : public testing::ToyRecipe {
    at::Tensor evaluate(Model&, const Batch& batch, StepContext&) override {
      return batch.row_weight;
    }
  } flat;
  ProcessGroup group{World{}, cpu_backend()};
  const auto error = [&](Recipe& recipe) {
    return error_of([&] {
      evaluate(recipe, *recipe.build(1), testing::ToyData(3), group, cpu_backend(),
               {.seed = 1, .batch = 2});
    });
  };
  EXPECT_EQ(error(items),
            "evaluate_items must return a record for each of the 2 rows, but returned 1 | a row "
            "without anything has an empty record");
  EXPECT_EQ(error(flat),
            "evaluate must return one record per row: [2, R], but returned [2] | R is the number "
            "of numbers that metrics needs of a sample");
}

TEST(Evaluate, SaysThatTheTableOfItemsCouldNotBeMadeAndGoesOn) {
  class NoTable : public testing::ToyRecipe {
    ItemTable items(const Records&, EvaluationOutput&) const override {
      throw std::runtime_error("no names");
    }
  } recipe;
  ProcessGroup group{World{}, cpu_backend()};
  EvaluationOutput output("/nowhere", 5);
  const Evaluation result = evaluate(recipe, *recipe.build(1), testing::ToyData(3), group,
                                     cpu_backend(), {.batch = 2, .output = &output});
  EXPECT_EQ(result.metrics.size(), 2U);
  EXPECT_EQ(output.problems(),
            std::vector<std::string>{"the recipe could not make the table of items: no names"});
}

}  // namespace
}  // namespace lockstep
