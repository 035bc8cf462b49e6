// Datasets with an order of their own, through the loader: the same samples on any number of ranks,
// and refusals that name what cannot be.
#include "training/data/training_rows.h"

#include "core/base/error.h"
#include "fakes/tenths.h"
#include "training/data/loader.h"

#include <gtest/gtest.h>

#include <ATen/ops/full.h>

#include <cmath>
#include <limits>
#include <string>

namespace lockstep {
namespace {

using Samples = std::vector<std::int64_t>;

// Sample i is [i, part]; every virtual function can be set.
class Ordered : public Dataset {
 public:
  std::int64_t size() const override { return count; }
  std::vector<at::Tensor> get(std::int64_t index, SampleContext& context) const override {
    at::Tensor t = at::full({2}, static_cast<double>(index), at::kDouble);
    t[1] = static_cast<double>(context.part);
    return {t};
  }
  std::int64_t rows_per_sample() const override { return parts; }
  std::int64_t epoch_size() const override { return places < 0 ? count : places; }
  std::vector<double> sample_weights() const override { return weights; }
  std::optional<std::int64_t> sample_at(std::uint64_t, std::int64_t epoch,
                                        std::int64_t place) const override {
    if (own_order == 0) return std::nullopt;
    return epoch * 3 + place * own_order;
  }
  std::int64_t length(std::int64_t index) const override { return has_lengths ? index % 10 : -1; }

  std::int64_t count = 30, places = -1, parts = 1, own_order = 0;
  std::vector<double> weights;
  bool has_lengths = false;
};

struct Split {
  int ranks = 1;
  std::int64_t micro_limit = 100;
};

// [sample, part] of each row of steps [first, last), in the order of rows, and -1 for padding.
std::vector<Samples> rows_of(const Ordered& data, const OrderOptions& order, std::int64_t global,
                             std::int64_t first, std::int64_t last, const Split& split) {
  const std::shared_ptr<const Dataset> shared(std::shared_ptr<void>(), &data);
  const BatchPlan batch =
      solve_batch(split.ranks, global, 0, 0, 0, split.micro_limit, "GPU", data.parts);
  std::vector<std::unique_ptr<Loader>> loaders;
  for (int rank = 0; rank < split.ranks; ++rank)
    loaders.push_back(
        std::make_unique<Loader>(shared, LoaderOptions{.seed = order.seed,
                                                       .shuffle = order.shuffle,
                                                       .batch = batch,
                                                       .rank = rank,
                                                       .first_step = first,
                                                       .last_step = last,
                                                       .threads = rank,
                                                       .drop_last = order.drop_last,
                                                       .group_by_length = order.group_by_length}));
  std::vector<Samples> rows;
  for (std::int64_t step = first; step < last; ++step) {
    const std::size_t begin = rows.size();
    for (auto& loader : loaders)
      for (const Batch& one : loader->next().batches)
        for (std::int64_t i = 0; i < one.size(); ++i) {
          const bool real = one.row_weight[i].item<double>() > 0;
          const std::int64_t sample = one.tensors[0][i][0].item<std::int64_t>();
          EXPECT_EQ(one.samples().at(static_cast<std::size_t>(i)), real ? sample : -1);
          rows.push_back({real ? sample : -1, one.tensors[0][i][1].item<std::int64_t>()});
        }
    for (std::size_t i = begin + static_cast<std::size_t>(batch.rows()); i < rows.size(); ++i)
      EXPECT_EQ(rows[i][0], -1) << "a place beyond the rows of a step";
    rows.resize(begin + static_cast<std::size_t>(batch.rows()));
  }
  return rows;
}

// The same for every split, and for one that goes on in the middle of an epoch.
void expect_same_everywhere(const Ordered& data, const OrderOptions& order, std::int64_t global) {
  const std::vector<Samples> one = rows_of(data, order, global, 0, 9, {});
  for (const int ranks : {1, 2, 3, 4}) {
    if (data.parts == 1 && global > ranks && global % ranks != 0) continue;
    for (const std::int64_t limit : {1, 2, 100}) {
      EXPECT_EQ(rows_of(data, order, global, 0, 9, {ranks, limit}), one) << ranks << ", " << limit;
      const std::vector<Samples> later = rows_of(data, order, global, 2, 9, {ranks, limit});
      const auto from = one.begin() + 2 * global * data.parts;
      EXPECT_EQ(later, std::vector<Samples>(from, one.end())) << ranks << ", " << limit;
    }
  }
}

TEST(TrainingRows, AreTheSameOnAnyNumberOfRanksWhateverTheOrder) {
  std::size_t number = 0;
  for (const std::int64_t parts : {1, 3, 6})
    for (const std::int64_t global : {1, 2, 12}) {
      if (!testing::has_turn_twice(number++)) continue;
      Ordered data;
      data.parts = parts;
      expect_same_everywhere(data, {.seed = 1}, global);
      data.places = 17;
      expect_same_everywhere(data, {.seed = 1}, global);
      data.has_lengths = true;
      expect_same_everywhere(data, {.seed = 1, .group_by_length = true}, global);
      data.weights.assign(30, 1);
      expect_same_everywhere(data, {.seed = 1, .drop_last = true}, global);
      data.weights.clear();
      data.own_order = 1;
      data.places = 5;
      data.count = 100;
      expect_same_everywhere(data, {.seed = 1, .shuffle = false}, global);
    }
}

TEST(TrainingRows, FollowTheDatasetsOwnOrder) {
  Ordered data;
  data.own_order = 2;
  data.places = 4;
  std::vector<Samples> expected;
  for (const std::int64_t sample : {0, 2, 4, 6, 3, 5, 7, 9}) expected.push_back({sample, 0});
  EXPECT_EQ(rows_of(data, {}, 2, 0, 4, {}), expected);
}

TEST(TrainingRows, TakeWeightsWithReplacement) {
  Ordered data;
  data.places = 60;
  data.weights.assign(30, 0);
  data.weights[4] = 2;
  data.weights[9] = 1;
  std::vector<int> seen(30, 0);
  for (const Samples& row : rows_of(data, {.seed = 8}, 12, 0, 25, {})) ++seen.at(row[0]);
  EXPECT_EQ(seen[4] + seen[9], 300);
  EXPECT_NEAR(seen[4], 200, 45);
}

TEST(TrainingRows, GroupLikeLengths) {
  Ordered data;
  data.has_lengths = true;
  const auto rows = rows_of(data, {.seed = 2, .group_by_length = true}, 3, 0, 10, {3, 1});
  for (std::size_t i = 0; i < rows.size(); i += 3)
    for (const std::size_t other : {i + 1, i + 2})
      EXPECT_EQ(rows[i][0] % 10, rows[other][0] % 10) << "30 samples, three of each length";
}

TEST(TrainingRows, BeginWithTheLongestToFindOutWhatTheyTake) {
  Ordered data;
  data.has_lengths = true;
  data.weights.assign(30, 1);
  const RowOf rows = longest_rows_first(data, {}, 4);
  for (std::int64_t row = 0; row < 4; ++row) EXPECT_GE(rows(0, row).sample % 10, row < 3 ? 9 : 8);
  data.has_lengths = false;
  EXPECT_EQ(longest_rows_first(data, {.seed = 3}, 4)(0, 1).sample,
            training_rows(data, {.seed = 3}, 4)(0, 1).sample);
}

// What an action is refused with; "" where it is not.
template <class Action>
std::string refusal_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string refusal(const Ordered& data, const OrderOptions& options = {}) {
  return refusal_of([&] { check_order(data, options); });
}

TEST(TrainingRows, AreRefusedByNameWhereTheyCannotBe) {
  const auto with = [](auto change) {
    Ordered data;
    change(data);
    return refusal(data);
  };
  EXPECT_EQ(with([](Ordered&) {}), "");
  EXPECT_EQ(with([](Ordered& d) { d.places = 0; }),
            "epoch_size() of the training data must be at least 1, but is 0");
  EXPECT_EQ(with([](Ordered& d) { d.parts = 0; }),
            "rows_per_sample() of the training data must be at least 1, but is 0");
  EXPECT_EQ(with([](Ordered& d) {
              d.weights = {1, 2};
            }),
            "sample_weights() of the training data has 2 weights for 30 samples");
  EXPECT_EQ(with([](Ordered& d) { d.weights.assign(30, 0); }),
            "the weights of all samples are 0, so none can be drawn");
  EXPECT_EQ(with([](Ordered& d) { d.weights.assign(30, -1); }),
            "the weight of sample 0 must be 0 or more, but is -1");
  EXPECT_EQ(with([](Ordered& d) {
              d.weights.assign(30, 1);
              d.weights[7] = std::numeric_limits<double>::quiet_NaN();
            }),
            "the weight of sample 7 must be 0 or more, but is nan");
  EXPECT_EQ(with([](Ordered& d) {
              d.weights.assign(30, 1);
              d.own_order = 1;
            }),
            "the training data has sample_weights() and an order of its own, sample_at()");
  EXPECT_EQ(refusal(Ordered(), {.group_by_length = true}),
            "data.group_by_length = true, but the length of sample 0 of the training data is not "
            "known");
}

TEST(TrainingRows, RefuseASampleOutOfRangeWithItsPlace) {
  Ordered data;
  data.own_order = 7;  // place 4 is sample 28, place 5 none
  EXPECT_EQ(refusal_of([&] { rows_of(data, {}, 4, 0, 2, {}); }),
            "sample_at(seed, epoch 0, place 5) of the training data gave 35, but samples are 0 to "
            "29");
}

}  // namespace
}  // namespace lockstep
