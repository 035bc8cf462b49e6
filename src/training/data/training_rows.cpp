#include "training/data/training_rows.h"

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "planning/order/length_groups.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace lockstep {
namespace {

void check_sizes(const Dataset& dataset) {
  const auto at_least_1 = [](const char* what, std::int64_t value) {
    if (value >= 1) return;
    throw Error(cat(what, " of the training data must be at least 1, but is ", value),
                cat("return 1 or more in Dataset::", what));
  };
  at_least_1("size()", dataset.size());
  at_least_1("epoch_size()", dataset.epoch_size());
  at_least_1("rows_per_sample()", dataset.rows_per_sample());
}

std::int64_t own_sample(const Dataset& dataset, std::uint64_t seed, std::int64_t epoch,
                        std::int64_t place) {
  const auto sample = dataset.sample_at(seed, epoch, place);
  if (sample && *sample >= 0 && *sample < dataset.size()) return *sample;
  throw Error(
      cat("sample_at(seed, epoch ", epoch, ", place ", place, ") of the training data gave ",
          sample ? cat(*sample) : "nothing", ", but samples are 0 to ", dataset.size() - 1),
      "return the index of a sample for every place below epoch_size()");
}

SampleAt weighted_order(const Dataset& dataset, std::vector<double> weights, std::uint64_t seed) {
  if (std::ssize(weights) != dataset.size())
    throw Error(cat("sample_weights() of the training data has ", weights.size(), " weights for ",
                    dataset.size(), " samples"),
                "give each sample a weight, or return none for an order without weights");
  return [draw = WeightedDraw(seed, weights)](std::int64_t epoch, std::int64_t place) {
    return draw.at(epoch, place);
  };
}

SampleAt order_of(const Dataset& dataset, const OrderOptions& options) {
  check_sizes(dataset);
  const std::uint64_t seed = options.seed;
  std::vector<double> weights = dataset.sample_weights();
  if (dataset.sample_at(seed, 0, 0)) {
    if (!weights.empty())
      throw Error("the training data has sample_weights() and an order of its own, sample_at()",
                  "return no weights, or no sample");
    return [&dataset, seed](std::int64_t epoch, std::int64_t place) {
      return own_sample(dataset, seed, epoch, place);
    };
  }
  if (!weights.empty()) return weighted_order(dataset, std::move(weights), seed);
  return permuted_order(seed, dataset.size(), dataset.epoch_size(), options.shuffle);
}

std::int64_t known_length(const Dataset& dataset, std::int64_t sample) {
  const std::int64_t length = dataset.length(sample);
  if (length >= 0) return length;
  throw Error(cat("data.group_by_length = true, but the length of sample ", sample,
                  " of the training data is not known"),
              "set data.group_by_length=false, or let Dataset::length tell it");
}

}  // namespace

RowOf training_rows(const Dataset& dataset, const OrderOptions& options, std::int64_t global) {
  SampleAt order = order_of(dataset, options);
  const EpochSteps steps{.size = dataset.epoch_size(),
                         .global = global,
                         .rows_per_sample = dataset.rows_per_sample(),
                         .drop_last = options.drop_last,
                         .fill_from_own_step = options.group_by_length};
  if (options.group_by_length) {
    known_length(dataset, 0);
    order =
        group_by_length(std::move(order), steps, options.seed, options.shuffle,
                        [&dataset](std::int64_t index) { return known_length(dataset, index); });
  }
  return [order = std::move(order), steps](std::int64_t step, std::int64_t global_row) {
    return steps.row_at(order, step, global_row);
  };
}

RowOf longest_rows_first(const Dataset& dataset, const OrderOptions& options, std::int64_t global) {
  check_sizes(dataset);
  if (dataset.length(0) < 0) return training_rows(dataset, options, global);
  std::vector<std::pair<std::int64_t, std::int64_t>> by_length;  // negative length, and the sample
  for (std::int64_t sample = 0; sample < dataset.size(); ++sample)
    by_length.emplace_back(-known_length(dataset, sample), sample);
  std::sort(by_length.begin(), by_length.end());
  const SampleAt order = [by_length = std::move(by_length)](std::int64_t, std::int64_t place) {
    return by_length[static_cast<std::size_t>(place)].second;
  };
  const EpochSteps steps{.size = dataset.size(),
                         .global = global,
                         .rows_per_sample = dataset.rows_per_sample(),
                         .fill_from_own_step = true};
  return [order, steps](std::int64_t step, std::int64_t global_row) {
    return steps.row_at(order, step, global_row);
  };
}

void check_order(const Dataset& dataset, const OrderOptions& options) {
  training_rows(dataset, options, 1);
}

}  // namespace lockstep
