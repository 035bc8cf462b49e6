// The loader: order, bounds, threads, errors.
#include "training/data/loader.h"

#include <gtest/gtest.h>

#include <ATen/ops/full.h>
#include <c10/util/Exception.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>

#include "core/base/error.h"

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
          all.push_back(
              {weight, t[i][0].item<double>(), t[i][1].item<double>(), t[i][2].item<double>()});
        }
  EXPECT_TRUE(loaders[0]->done());
  return all;
}

TEST(Loader, GivesEverySampleTheSameWhateverRanksAccumulationAndThreads) {
  const auto one = rows(1, 1, 0);
  ASSERT_EQ(one.size(), 9U * 24U);
  for (const int ranks : {1, 2, 3, 4})
    for (const std::int64_t accumulation : {1, 2})
      for (const std::int64_t threads : {0, 1, 3, 8})
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

// A sample is there only once as many are being read at the same time, or after two seconds.
class Meeting : public Dataset {
 public:
  explicit Meeting(int expected) : expected_(expected) {}
  std::int64_t size() const override { return 1000; }
  std::vector<at::Tensor> get(std::int64_t, SampleContext&) const override {
    std::unique_lock lock(mutex_);
    most = std::max(most, ++present_);
    changed_.notify_all();
    late_ = late_ || !changed_.wait_for(lock, std::chrono::seconds(2),
                                        [this] { return late_ || most >= expected_; });
    changed_.notify_all();
    --present_;
    return {at::full({}, 1.0)};
  }
  mutable int most = 0;

 private:
  int expected_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  mutable int present_ = 0;
  mutable bool late_ = false;
};

TEST(Loader, KeepsAllThreadsBusyWithinOneMicroBatch) {
  const auto data = std::make_shared<Meeting>(8);
  Loader loader(data, {.batch = {.world_size = 1, .micro = 8, .accumulation = 1, .global = 8},
                       .last_step = 1,
                       .threads = 8,
                       .prefetch_steps = 1});
  loader.next();
  EXPECT_EQ(data->most, 8);
}

TEST(Loader, LooksFurtherAheadWhereAStepHasFewerRowsThanThereAreThreads) {
  const auto data = std::make_shared<Meeting>(8);
  Loader loader(data, {.batch = {.world_size = 1, .micro = 1, .accumulation = 1, .global = 1},
                       .last_step = 20,
                       .threads = 5,
                       .prefetch_steps = 2});
  for (int i = 0; i < 3; ++i) loader.add_thread();
  for (int i = 0; i < 20; ++i) loader.next();
  EXPECT_EQ(data->most, 8);
}

// Samples 13 and 31 cannot be read, and say so in an exception of a kind.
class Broken : public Counting {
 public:
  explicit Broken(std::function<void()> fail) : Counting(40), fail_(std::move(fail)) {}
  std::vector<at::Tensor> get(std::int64_t index, SampleContext& context) const override {
    // The later row fails first.
    if (index == 13) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (index == 13 || index == 31) fail_();
    return Counting::get(index, context);
  }

 private:
  std::function<void()> fail_;
};

// Takes the only step, samples 0 to 39 in order.
void load_broken(std::int64_t threads, std::function<void()> fail) {
  LoaderOptions o = options(1, 0, 1, threads);
  o.shuffle = false;
  o.batch.micro = o.batch.global = 40;
  Loader(std::make_shared<Broken>(std::move(fail)), o).next();
}

TEST(Loader, NamesTheFirstSampleThatCouldNotBeRead) {
  for (const std::int64_t threads : {0, 1, 4}) {
    try {
      load_broken(threads, [] { throw std::runtime_error("no such file"); });
      FAIL();
    } catch (const std::exception& error) {
      EXPECT_STREQ(error.what(), "sample 13 of the training data: no such file");
    }
  }
}

TEST(Loader, KeepsTheKindOfAnErrorThatMatters) {
  try {
    load_broken(2, [] { throw Error("no such file", "mount it"); });
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "sample 13 of the training data: no such file");
    EXPECT_EQ(error.hint(), "mount it");
  }
  try {
    load_broken(2, [] { TORCH_CHECK_WITH(OutOfMemoryError, false, "too large"); });
    FAIL();
  } catch (const c10::OutOfMemoryError& error) {
    EXPECT_STREQ(error.what_without_backtrace(), "too large (sample 13 of the training data)");
  }
  EXPECT_THROW(load_broken(2, [] { throw std::bad_alloc(); }), std::bad_alloc);
}

TEST(Loader, FillsPaddingRowsWithOtherSamplesOfTheEpoch) {
  Loader loader(std::make_shared<Counting>(40), options(1, 0, 1, 2));
  std::vector<double> epoch, padding;
  std::vector<std::int64_t> samples;
  for (int step = 0; step < 2; ++step) {
    const StepData data = loader.next();
    samples.insert(samples.end(), data.samples.begin(), data.samples.end());
    for (std::int64_t i = 0; i < 24; ++i) {
      const double sample = data.batches[0].tensors[0][i][0].item<double>();
      (data.batches[0].row_weight[i].item<double>() > 0 ? epoch : padding).push_back(sample);
    }
  }
  ASSERT_EQ(padding.size(), 8U);
  EXPECT_EQ(padding, std::vector<double>(epoch.begin(), epoch.begin() + 8));
  EXPECT_EQ(std::set<double>(epoch.begin(), epoch.end()).size(), 40U);
  EXPECT_EQ(std::vector<std::int64_t>(samples.end() - 8, samples.end()),
            std::vector<std::int64_t>(8, -1));
}

// Notes what it was asked for.
class Whole : public BatchDataset {
 public:
  std::int64_t size() const override { return 10; }
  std::vector<at::Tensor> get(std::int64_t, SampleContext&) const override { return {}; }
  std::vector<at::Tensor> batch(const std::vector<std::int64_t>& samples,
                                std::vector<SampleContext>& contexts) const override {
    const std::lock_guard lock(mutex_);
    if (samples[0] == broken) throw std::runtime_error("no such file");
    at::Tensor t = at::full({static_cast<std::int64_t>(samples.size())}, 0.0);
    for (std::size_t i = 0; i < samples.size(); ++i) {
      t[static_cast<std::int64_t>(i)] = samples[i];
      padding += contexts[i].padding ? 1 : 0;
    }
    ++batches;
    return {t};
  }
  std::int64_t broken = -1;
  mutable int batches = 0, padding = 0;

 private:
  mutable std::mutex mutex_;
};

LoaderOptions in_fours(std::int64_t threads) {
  return {.shuffle = false,
          .batch = {.world_size = 1, .micro = 4, .accumulation = 2, .global = 8},
          .last_step = 2,
          .threads = threads};
}

TEST(Loader, AsksADatasetThatWritesBatchesForWholeMicroBatches) {
  const auto data = std::make_shared<Whole>();
  Loader loader(data, in_fours(3));
  std::vector<double> samples;
  while (!loader.done())
    for (const Batch& batch : loader.next().batches)
      for (std::int64_t i = 0; i < 4; ++i) samples.push_back(batch.tensors[0][i].item<double>());
  EXPECT_EQ(samples, (std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(data->batches, 4);
  EXPECT_EQ(data->padding, 6);
}

TEST(Loader, NamesTheSamplesOfABatchThatCouldNotBeMade) {
  const auto message = [](const std::shared_ptr<const Dataset>& data) -> std::string {
    try {
      Loader(data, in_fours(2)).next();
    } catch (const c10::Error& error) {
      return error.what_without_backtrace();
    } catch (const std::exception& error) {
      return error.what();
    }
    return "";
  };
  const auto whole = std::make_shared<Whole>();
  whole->broken = 4;
  EXPECT_EQ(message(whole), "samples 4, 5, 6, 7 of the training data: no such file");
  class Uneven : public Counting {
   public:
    Uneven() : Counting(40) {}
    std::vector<at::Tensor> get(std::int64_t index, SampleContext&) const override {
      return {at::full({index == 6 ? 4 : 3}, 1.0)};
    }
  };
  EXPECT_NE(message(std::make_shared<Uneven>()).find("samples 4, 5, 6, 7 of the training data"),
            std::string::npos);
}

TEST(Loader, FillsABatchWithCopiesWhereRowsHaveNoSample) {
  LoaderOptions o = in_fours(2);
  o.training = false;
  o.batch.accumulation = 1;
  o.row_of = [](std::int64_t step, std::int64_t row) {
    const std::int64_t sample = 20 + step * 4 + row;
    return Row{.global_row = sample, .sample = sample < 26 ? sample : -1};
  };
  const auto data = std::make_shared<Counting>(40);
  Loader loader(data, o);
  loader.next();
  const Batch last = loader.next().batches[0];
  for (std::int64_t i = 0; i < 4; ++i) {
    EXPECT_EQ(last.tensors[0][i][0].item<double>(), i % 2 == 0 ? 24 : 25);
    EXPECT_EQ(last.row_weight[i].item<float>(), i < 2 ? 1 : 0);
  }
  EXPECT_EQ(last.first_global_row, 24);
  EXPECT_EQ(data->gets, 6);
}

TEST(Loader, CanBeLeftWithStepsUnread) {
  Loader loader(std::make_shared<Counting>(40), options(1, 0, 1, 2));
  loader.next();
}

TEST(Loader, TakesMoreThreadsWhileRunning) {
  Loader loader(std::make_shared<Counting>(40), options(1, 0, 1, 1));
  loader.next();
  loader.add_thread();
  EXPECT_EQ(loader.threads(), 2);
  for (int i = 1; i < 9; ++i) EXPECT_EQ(loader.next().step, i);
}

}  // namespace
}  // namespace lockstep
