// What the data set asks for, and how often.
#include "recipes/textgen/model/dataset.h"

#include "recipes/textgen/model/loss.h"
#include "recipes/textgen/options/synthetic.h"
#include "tests/unit/textgen-model/temporary_tokens.h"

#include <ATen/ops/equal.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

namespace lockstep::textgen {
namespace {

SampleContext context_of(std::int64_t epoch, bool training = true) {
  return {.seed = 7,
          .epoch = epoch,
          .step = 0,
          .global_row = 0,
          .training = training,
          .random = Random(7, RandomStream::augment, 0, 0)};
}

TextDataset counting_dataset(std::uint16_t tokens, std::int64_t context, bool shifting) {
  const TemporaryDirectory folder;
  write_tokens(folder.path() / "t.tok", counting(tokens));
  return {std::make_shared<FileTokens>(folder.path() / "t.tok"), context, shifting};
}

// How often each token is a target in an epoch; every target must follow its token.
std::map<std::int64_t, int> targets_of(const TextDataset& data, std::int64_t epoch) {
  std::map<std::int64_t, int> seen;
  for (std::int64_t i = 0; i < data.size(); ++i) {
    SampleContext context = context_of(epoch);
    const auto sample = data.get(i, context);
    for (std::int64_t t = 0; t < sample[0].size(0); ++t) {
      const auto target = sample[1][t].item<std::int64_t>();
      if (target == kIgnored) continue;
      EXPECT_EQ(sample[0][t].item<std::int64_t>() + 1, target);
      ++seen[target];
    }
  }
  return seen;
}

TEST(TextDataset, AsksForEveryTokenButTheFirstOnceAnEpoch) {
  for (const std::uint16_t tokens : {2, 3, 8, 9, 10, 16, 17, 18, 30})
    for (const bool shifting : {false, true})
      for (std::int64_t epoch = 0; epoch < 4; ++epoch) {
        const TextDataset data = counting_dataset(tokens, 8, shifting);
        const auto seen = targets_of(data, epoch);
        EXPECT_EQ(seen.size(), tokens - 1) << tokens;
        EXPECT_FALSE(seen.contains(0));
        for (const auto& [target, times] : seen) EXPECT_EQ(times, 1) << tokens << " " << target;
      }
}

TEST(TextDataset, HasSamplesOfOneShapeAndType) {
  const TextDataset data = counting_dataset(30, 8, true);
  for (std::int64_t i = 0; i < data.size(); ++i) {
    SampleContext context = context_of(1);
    const auto sample = data.get(i, context);
    ASSERT_EQ(sample.size(), 2);
    EXPECT_EQ(sample[0].scalar_type(), at::kInt);
    EXPECT_EQ(sample[1].scalar_type(), at::kLong);
    for (const at::Tensor& field : sample) EXPECT_EQ(field.sizes(), at::IntArrayRef({8}));
  }
}

TEST(TextDataset, CutsAnotherGridEachEpochOfTrainingOnly) {
  const TextDataset data = counting_dataset(1000, 64, true);
  std::set<std::int64_t> training, validation;
  for (std::int64_t epoch = 0; epoch < 12; ++epoch) {
    SampleContext train = context_of(epoch), valid = context_of(epoch, false);
    training.insert(data.get(0, train)[0][0].item<std::int64_t>());
    validation.insert(data.get(0, valid)[0][0].item<std::int64_t>());
  }
  EXPECT_GT(training.size(), 6);
  EXPECT_EQ(validation, std::set<std::int64_t>{0});
}

TEST(TextDataset, WritesABatchAsItsRowsWouldBeCollated) {
  const TextDataset data = counting_dataset(30, 8, true);  // the last sample is short
  const std::vector<std::int64_t> samples{2, data.size() - 1, 1, 0};
  std::vector<SampleContext> contexts(samples.size(), context_of(1)), again = contexts;
  contexts[2].padding = again[2].padding = true;
  std::vector<std::vector<at::Tensor>> rows;
  for (std::size_t i = 0; i < samples.size(); ++i) rows.push_back(data.get(samples[i], again[i]));
  const auto own = data.batch(samples, contexts), plain = data.collate(rows);
  ASSERT_EQ(own.size(), plain.size());
  for (std::size_t i = 0; i < own.size(); ++i) {
    EXPECT_EQ(own[i].scalar_type(), plain[i].scalar_type());
    EXPECT_TRUE(own[i].equal(plain[i])) << own[i] << plain[i];
  }
}

TEST(TextDataset, PadsWithRowsThatAskForNothing) {
  const TextDataset data = counting_dataset(30, 8, true);
  SampleContext context = context_of(0), padding = context;
  padding.padding = true;
  const auto row = data.get(0, padding), sample = data.get(0, context);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(row[i].sizes(), sample[i].sizes());
    EXPECT_EQ(row[i].scalar_type(), sample[i].scalar_type());
  }
  EXPECT_TRUE(row[1].eq(kIgnored).all().item<bool>());
}

TEST(SyntheticTokens, AreAFunctionOfSeedAndPosition) {
  const SyntheticTokens a(1, 1000, 50), b(2, 1000, 50);
  std::vector<std::int64_t> whole(1000), part(10);
  std::vector<std::int32_t> other(1000);
  a.copy(0, 1000, whole.data());
  a.copy(500, 10, part.data());
  b.copy(0, 1000, other.data());
  EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + 500));
  EXPECT_FALSE(std::equal(whole.begin(), whole.end(), other.begin()));
  EXPECT_EQ(std::set<std::int64_t>(whole.begin(), whole.end()).size(), 50);
  EXPECT_EQ(whole[3], synthetic_token(1, 3, 50));
}

}  // namespace
}  // namespace lockstep::textgen
