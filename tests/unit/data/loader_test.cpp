// The loader: order, bounds, threads, errors.
#include "data/loader.h"

#include <gtest/gtest.h>

#include <ATen/ops/full.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

namespace lockstep {
namespace {

// Sample i is [i, place, a random draw].
class Counting : public Dataset {
 public:
  explicit Counting(std::int64_t count) : count_(count) {}
  std::int64_t size() const override { return count_; }
  std::vector<at::Tensor> get(std::int64_t index, SampleContext& context) const override {
    if (index == broken) throw std::runtime_error("sample 13 is broken");
    ++gets;
    at::Tensor t = at::full({3}, static_cast<double>(index), at::kDouble);
    t[1] = static_cast<double>(context.global_row);
    t[2] = context.random.uniform();
    return {t};
  }
  std::int64_t broken = -1;
  mutable std::atomic<int> gets{0};

 private:
  std::int64_t count_;
};

LoaderOptions options(int ranks, int rank, std::int64_t accumulation, std::int64_t threads) {
  return {.seed = 5,
          .shuffle = true,
          .batch = {.world_size = ranks,
                    .micro = 24 / ranks / accumulation,
                    .accumulation = accumulation,
                    .global = 24},
          .rank = rank,
          .last_step = 9,
          .threads = threads,
          .loss_weights = [](const Batch& batch) {
            return std::vector<double>{batch.row_weight.sum().item<double>()};
          }};
}

// Rows of every step in order of place, over all ranks.
std::vector<std::vector<double>> rows(int ranks, std::int64_t accumulation, std::int64_t threads) {
  const auto data = std::make_shared<Counting>(40);
  std::vector<std::vector<double>> all;
  std::vector<std::unique_ptr<Loader>> loaders;
  for (int rank = 0; rank < ranks; ++rank)
    loaders.push_back(std::make_unique<Loader>(data, options(ranks, rank, accumulation, threads)));
  for (int step = 0; step < 9; ++step)
    for (auto& loader : loaders)
      for (const Batch& batch : loader->next().batches)
        for (std::int64_t i = 0; i < batch.size(); ++i) {
          const double weight = batch.row_weight[i].item<double>();
          const at::Tensor& t = batch.tensors[0];
          all.push_back({weight, weight * t[i][0].item<double>(), t[i][1].item<double>(),
                         t[i][2].item<double>()});
        }
  EXPECT_TRUE(loaders[0]->done());
  return all;
}

TEST(Loader, GivesEverySampleTheSameWhateverRanksAccumulationAndThreads) {
  const auto one = rows(1, 1, 0);
  ASSERT_EQ(one.size(), 9U * 24U);
  for (const int ranks : {1, 2, 3, 4})
    for (const std::int64_t accumulation : {1, 2})
      for (const std::int64_t threads : {0, 1, 3})
        EXPECT_EQ(rows(ranks, accumulation, threads), one);
}

TEST(Loader, CoversEachEpochExactlyOnce) {
  const auto all = rows(2, 1, 2);
  std::vector<int> seen(40, 0);
  int padding = 0;
  for (std::size_t i = 0; i < 2 * 24; ++i) {  // an epoch of 40 samples is 2 steps of 24
    if (all[i][0] == 0)
      ++padding;
    else
      ++seen[static_cast<std::size_t>(all[i][1])];
  }
  EXPECT_EQ(padding, 8);
  for (const int count : seen) EXPECT_EQ(count, 1);
}

TEST(Loader, AddsUpTheWeightsOfAStep) {
  Loader loader(std::make_shared<Counting>(40), options(1, 0, 3, 2));
  for (int step = 0; step < 4; ++step)
    EXPECT_EQ(loader.next().weights.at(0), step % 2 == 0 ? 24 : 16);
}

TEST(Loader, NeverRunsFurtherAheadThanAsked) {
  const auto data = std::make_shared<Counting>(400);
  LoaderOptions o = options(1, 0, 1, 3);
  o.prefetch_steps = 2;
  Loader loader(data, o);
  loader.next();
  for (int i = 0; i < 200 && data->gets < 72; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(data->gets, 72);  // the one taken and two ahead
}

TEST(Loader, RethrowsWhatTheDatasetThrew) {
  const auto data = std::make_shared<Counting>(40);
  data->broken = 13;
  for (const std::int64_t threads : {0, 2}) {
    Loader loader(data, options(1, 0, 1, threads));
    EXPECT_THROW(
        {
          for (int i = 0; i < 9; ++i) loader.next();
        },
        std::runtime_error);
  }
}

TEST(Loader, CanBeLeftWithStepsUnread) {
  Loader loader(std::make_shared<Counting>(40), options(1, 0, 1, 2));
  loader.next();
}

TEST(Loader, TakesMoreThreadsWhileRunning) {
  Loader loader(std::make_shared<Counting>(40), options(1, 0, 1, 1));
  loader.next();
  loader.add_thread();
  for (int i = 1; i < 9; ++i) EXPECT_EQ(loader.next().step, i);
}

}  // namespace
}  // namespace lockstep
