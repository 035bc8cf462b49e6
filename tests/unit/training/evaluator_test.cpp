// Evaluation over ranks.
#include "training/evaluation/evaluator.h"

#include "core/base/error.h"
#include "fakes/forwarding_backend.h"
#include "fakes/thread_ranks.h"
#include "fakes/toy_recipe.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <stdexcept>
#include <thread>

namespace lockstep {
namespace {

std::vector<Metric> run(int ranks, std::int64_t samples, std::int64_t batch) {
  std::vector<std::vector<Metric>> all;
  std::mutex mutex;
  testing::with_ranks(ranks, [&](ProcessGroup& group) {
    testing::ToyRecipe recipe;
    const auto model = recipe.build(1);
    const testing::ToyData data(samples);
    auto metrics =
        evaluate(recipe, *model, data, group, cpu_backend(), {.seed = 1, .batch = batch}).metrics;
    const std::lock_guard lock(mutex);
    all.push_back(std::move(metrics));
  });
  for (const auto& metrics : all) EXPECT_EQ(metrics[0].value, all[0][0].value);
  return all[0];
}

TEST(Evaluate, IsTheSameOnAnyNumberOfRanks) {
  const auto one = run(1, 11, 4);
  EXPECT_EQ(one[1].value, 11);
  for (const int ranks : {2, 3, 4}) {
    const auto many = run(ranks, 11, 4);
    EXPECT_NEAR(many[0].value, one[0].value, 1e-12) << ranks;
    EXPECT_EQ(many[1].value, 11);
  }
}

class CountedData : public testing::ToyData {
 public:
  using ToyData::ToyData;
  std::vector<at::Tensor> get(std::int64_t index, SampleContext& context) const override {
    ++gets;
    return ToyData::get(index, context);
  }
  mutable std::atomic<int> gets{0};
};

TEST(Evaluate, ReadsNoSampleTwiceAndNothingForPadding) {
  for (const std::int64_t samples : {2, 11})
    for (const int ranks : {1, 2, 4}) {
      const CountedData data(samples);
      testing::with_ranks(ranks, [&](ProcessGroup& group) {
        testing::ToyRecipe recipe;
        const auto model = recipe.build(1);
        const Evaluation result =
            evaluate(recipe, *model, data, group, cpu_backend(), {.seed = 1, .batch = 4});
        EXPECT_EQ(result.metrics[1].value, static_cast<double>(samples));
      });
      EXPECT_EQ(data.gets, samples) << ranks << " ranks";
    }
}

TEST(Evaluate, GivesARowTheSameRecordInAPaddedBatch) {
  // To fp32's last places: a product of more rows may add in another order.
  EXPECT_NEAR(run(1, 11, 4)[0].value, run(1, 11, 11)[0].value, 3e-6);
  EXPECT_NEAR(run(1, 1, 8)[0].value, run(1, 1, 1)[0].value, 3e-6);
}

// A device that is not the CPU, and holds no values.
struct OtherDevice : testing::ForwardingBackend {
  at::Device device() const override { return at::kMeta; }
  std::unique_ptr<Download> download(const at::Tensor& tensor) override {
    EXPECT_TRUE(tensor.is_meta());
    return cpu_backend().download(at::zeros(tensor.sizes(), tensor.scalar_type()));
  }
};

struct RecordsOfBothDevices : testing::ToyRecipe {
  std::vector<at::Tensor> evaluate_items(Model&, const Batch& batch, StepContext&) override {
    std::vector<at::Tensor> records(static_cast<std::size_t>(batch.size()), at::zeros({2}));
    records.back() = records.back().to(at::kMeta);
    return records;
  }
  std::vector<Metric> metrics(const Records& records) const override {
    return {{"length", static_cast<double>(records.length(0) + records.length(1)), "", true}};
  }
};

TEST(Evaluate, TakesRecordsOfTheDeviceAndOfTheHost) {
  testing::with_ranks(1, [&](ProcessGroup& group) {
    RecordsOfBothDevices recipe;
    OtherDevice backend;
    const auto model = recipe.build(1);
    const auto metrics =
        evaluate(recipe, *model, testing::ToyData(3), group, backend, {.seed = 1, .batch = 2})
            .metrics;
    EXPECT_EQ(metrics[0].value, 4);
  });
}

// Has memory for three rows.
class SmallMemory : public testing::ToyRecipe {
 public:
  at::Tensor evaluate(Model& model, const Batch& batch, StepContext& context) override {
    TORCH_CHECK_WITH(OutOfMemoryError, batch.size() <= 3, "no memory");
    return ToyRecipe::evaluate(model, batch, context);
  }
};

TEST(Evaluate, HalvesTheBatchOnAllRanksWhereMemoryRunsOutOnOne) {
  const double expected = run(1, 11, 4)[0].value;
  testing::with_ranks(3, [&](ProcessGroup& group) {
    SmallMemory small;
    testing::ToyRecipe large;
    testing::ToyRecipe& recipe = group.rank() == 1 ? small : large;
    const auto model = recipe.build(1);
    const testing::ToyData data(11);
    const Evaluation result =
        evaluate(recipe, *model, data, group, cpu_backend(), {.seed = 1, .batch = 8});
    EXPECT_EQ(result.batch, 2);
    EXPECT_EQ(result.out_of_memory_ranks, std::vector<int>{1});
    EXPECT_NEAR(result.metrics[0].value, expected, 1e-7);
  });
}

// Takes 10 ms a sample, of which a thread sleeps.
class SlowData : public testing::ToyData {
 public:
  using ToyData::ToyData;
  std::vector<at::Tensor> get(std::int64_t index, SampleContext& context) const override {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return ToyData::get(index, context);
  }
};

double seconds_with(std::int64_t threads) {
  double seconds = 0;
  testing::with_ranks(1, [&](ProcessGroup& group) {
    testing::ToyRecipe recipe;
    const auto model = recipe.build(1);
    const SlowData data(64);
    const auto begin = std::chrono::steady_clock::now();
    evaluate(recipe, *model, data, group, cpu_backend(),
             {.seed = 1, .batch = 16, .threads = threads});
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  });
  return seconds;
}

TEST(Evaluate, IsManyTimesFasterWithThreadsWhereReadingIsSlow) {
  EXPECT_GT(seconds_with(1), 4 * seconds_with(8));
}

TEST(Evaluate, IsTheSameWithAnyNumberOfThreads) {
  testing::with_ranks(1, [&](ProcessGroup& group) {
    testing::ToyRecipe recipe;
    const auto model = recipe.build(1);
    const testing::ToyData data(23);
    const auto with = [&](std::int64_t threads) {
      return evaluate(recipe, *model, data, group, cpu_backend(),
                      {.seed = 1, .batch = 4, .threads = threads})
          .metrics[0]
          .value;
    };
    EXPECT_EQ(with(1), with(0));
    EXPECT_EQ(with(5), with(0));
  });
}

class BrokenData : public testing::ToyData {
 public:
  using ToyData::ToyData;
  std::vector<at::Tensor> get(std::int64_t index, SampleContext& context) const override {
    if (index == 5) throw std::runtime_error("no such file");
    return ToyData::get(index, context);
  }
};

TEST(Evaluate, NamesTheSampleThatCouldNotBeRead) {
  testing::with_ranks(1, [&](ProcessGroup& group) {
    testing::ToyRecipe recipe;
    const auto model = recipe.build(1);
    try {
      evaluate(recipe, *model, BrokenData(11), group, cpu_backend(), {.batch = 4, .threads = 2});
      FAIL();
    } catch (const std::exception& error) {
      EXPECT_STREQ(error.what(), "sample 5 of the validation data: no such file");
    }
  });
}

// One that cannot be read, which the second of three ranks meets.
class UnreadableData : public testing::ToyData {
 public:
  using ToyData::ToyData;
  std::vector<at::Tensor> get(std::int64_t index, SampleContext& context) const override {
    if (index == 5) throw Error("b.tif breaks off", "copy it again");
    return ToyData::get(index, context);
  }
};

TEST(Evaluate, EndsOnAllRanksWithWhatOneOfThemCouldNotRead) {
  std::atomic<int> ended{0};
  testing::with_ranks(3, [&](ProcessGroup& group) {
    testing::ToyRecipe recipe;
    const auto model = recipe.build(1);
    try {
      evaluate(recipe, *model, UnreadableData(11), group, cpu_backend(), {.batch = 4});
      ADD_FAILURE();
    } catch (const EvaluationFailed& error) {
      EXPECT_NE(std::string(error.what()).find("b.tif breaks off"), std::string::npos);
      EXPECT_EQ(error.hint(), "copy it again");
      ++ended;
    }
    EXPECT_TRUE(group.all_agree(true)) << "and they can go on together";
  });
  EXPECT_EQ(ended, 3);
}

TEST(Evaluate, EndsOnAllRanksWhereOneThrowsWhatIsNoError) {
  testing::with_ranks(3, [&](ProcessGroup& group) {
    testing::ToyRecipe recipe;
    const auto model = recipe.build(1);
    try {
      evaluate(recipe, *model, BrokenData(11), group, cpu_backend(), {.batch = 4});
      ADD_FAILURE();
    } catch (const std::exception& error) {
      EXPECT_EQ(dynamic_cast<const Error*>(&error) == nullptr, group.rank() == 1);
      EXPECT_NE(std::string(error.what()).find("no such file"), std::string::npos);
    }
  });
}

TEST(Evaluate, CoversFewerSamplesThanRanks) { EXPECT_EQ(run(4, 2, 3)[1].value, 2); }

// A piece is some of the record's eight bytes.
class InPieces : public testing::ToyRecipe {
 public:
  bool evaluates_pieces() const override { return true; }
  at::Tensor evaluate_piece(Model& model, const Batch& sample, ItemPiece piece,
                            StepContext& context) override {
    made.push_back(piece);
    const at::Tensor record = ToyRecipe::evaluate(model, sample, context).reshape({-1});
    return record.view(at::kByte).slice(0, 8 * piece.index / piece.count,
                                        8 * (piece.index + 1) / piece.count);
  }
  at::Tensor join_evaluated(const Batch&, const std::vector<at::Tensor>& pieces,
                            StepContext&) override {
    ++joined;
    return at::cat(pieces).view(at::kDouble);
  }
  std::vector<ItemPiece> made;
  int joined = 0;
};

TEST(Evaluate, SharesASampleWhereThereAreFewerThanRanks) {
  for (const std::int64_t samples : {1, 2, 3}) {
    const std::vector<Metric> whole = run(1, samples, 1);
    for (const int ranks : {2, 3, 4}) {
      SCOPED_TRACE(std::to_string(samples) + " samples on " + std::to_string(ranks) + " ranks");
      std::atomic<int> joined{0};
      std::atomic<std::int64_t> idle{0};
      testing::with_ranks(ranks, [&](ProcessGroup& group) {
        InPieces recipe;
        const auto model = recipe.build(1);
        const Evaluation result =
            evaluate(recipe, *model, testing::ToyData(samples), group, cpu_backend(),
                     {.seed = 1, .batch = samples < ranks ? 2 : 1});
        for (std::size_t i = 0; i < whole.size(); ++i)
          EXPECT_EQ(result.metrics[i].value, whole[i].value) << whole[i].name;
        joined += recipe.joined;
        if (samples < ranks && recipe.made.size() != 1) ++idle;
        if (samples >= ranks) EXPECT_TRUE(recipe.made.empty()) << "each has a sample of its own";
      });
      EXPECT_EQ(joined, samples < ranks ? samples : 0) << "each once";
      EXPECT_EQ(idle, 0);
    }
  }
}

// Has no memory for its piece.
class NoMemoryForPieces : public InPieces {
 public:
  at::Tensor evaluate_piece(Model&, const Batch&, ItemPiece, StepContext&) override {
    TORCH_CHECK_WITH(OutOfMemoryError, false, "no memory");
  }
};

TEST(Evaluate, NamesTheRankWithoutMemoryForAPiece) {
  testing::with_ranks(3, [&](ProcessGroup& group) {
    InPieces large;
    NoMemoryForPieces small;
    InPieces& recipe = group.rank() == 1 ? small : large;
    const auto model = recipe.build(1);
    try {
      evaluate(recipe, *model, testing::ToyData(1), group, cpu_backend(), {.seed = 1});
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("out of memory on rank 1"), std::string::npos)
          << error.what();
    }
  });
}

TEST(Evaluate, RefusesAnEmptySet) { EXPECT_THROW(run(1, 0, 3), Error); }

}  // namespace
}  // namespace lockstep
