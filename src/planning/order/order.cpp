// The sample order as a keyed permutation, and the samples in the rows of a step.
#include "planning/order/order.h"

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/philox.h"
#include "core/base/text/text.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace lockstep {
namespace {

// Halves of fewer bits allow too few permutations. A small count uses a larger domain, and skips
// values outside its range.
constexpr int smallest_domain_bits = 8;
constexpr int rounds = 8;

// A Feistel network over `bits` bits. Each round changes one half by a keyed function of the other.
// Each round can be undone, so the whole is a permutation of [0, 2^bits).
std::uint64_t permute(std::uint64_t value, int bits, std::uint64_t epoch, std::uint64_t key) {
  const int low_bits = bits / 2;
  const std::uint64_t low_mask = (std::uint64_t{1} << low_bits) - 1;
  const std::uint64_t high_mask = (std::uint64_t{1} << (bits - low_bits)) - 1;
  std::uint64_t low = value & low_mask, high = value >> low_bits;
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const bool change_low = round % 2 == 0;
    const auto block =
        philox({static_cast<std::uint32_t>(change_low ? high : low), round,
                static_cast<std::uint32_t>(epoch), static_cast<std::uint32_t>(epoch >> 32)},
               key);
    if (change_low)
      low ^= block[0] & low_mask;
    else
      high ^= block[0] & high_mask;
  }
  return high << low_bits | low;
}

// The index of the largest weight.
std::size_t check_weights(const std::vector<double>& weights) {
  std::size_t largest = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!std::isfinite(weights[i]) || weights[i] < 0)
      throw Error(cat("the weight of sample ", i, " must be 0 or more, but is ", weights[i]),
                  "give each sample a finite weight in Dataset::sample_weights");
    if (weights[i] > weights[largest]) largest = i;
  }
  if (weights.empty() || weights[largest] == 0)
    throw Error("the weights of all samples are 0, so none can be drawn",
                "give at least one sample a weight in Dataset::sample_weights, or return none");
  return largest;
}

}  // namespace

SampleOrder::SampleOrder(std::uint64_t seed, std::int64_t count, bool shuffle)
    : key_(stream_key(seed, RandomStream::order)), count_(count), shuffle_(shuffle) {
  LOCKSTEP_CHECK(count >= 0);
}

std::int64_t SampleOrder::at(std::int64_t epoch, std::int64_t position) const {
  LOCKSTEP_CHECK(epoch >= 0 && position >= 0 && position < count_);
  if (!shuffle_ || count_ == 1) return position;
  const std::uint64_t count = static_cast<std::uint64_t>(count_);
  const int bits = std::max(smallest_domain_bits, static_cast<int>(std::bit_width(count - 1)));
  std::uint64_t value = static_cast<std::uint64_t>(position);
  do {
    value = permute(value, bits, static_cast<std::uint64_t>(epoch), key_);
  } while (value >= count);
  return static_cast<std::int64_t>(value);
}

WeightedDraw::WeightedDraw(std::uint64_t seed, const std::vector<double>& weights)
    : seed_(seed), keep_(weights.size(), 1), alias_(weights.size()) {
  const std::size_t likeliest = check_weights(weights);
  double sum = 0;  // sum of weights / largest weight, so that it stays finite
  for (const double weight : weights) sum += weight / weights[likeliest];
  std::vector<double> share(weights.size());  // 1 = the mean share
  std::vector<std::size_t> small, large;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    share[i] = weights[i] / weights[likeliest] / sum * static_cast<double>(weights.size());
    alias_[i] = static_cast<std::int64_t>(i);
    (share[i] < 1 ? small : large).push_back(i);
  }
  while (!small.empty() && !large.empty()) {
    const std::size_t one = small.back(), other = large.back();
    small.pop_back();
    keep_[one] = share[one];
    alias_[one] = static_cast<std::int64_t>(other);
    share[other] -= 1 - share[one];
    if (share[other] >= 1) continue;
    large.pop_back();
    small.push_back(other);
  }
  // The remaining shares are 1 except for rounding. Rounding must not let a weight of 0 be drawn.
  for (const std::size_t i : small)
    if (weights[i] == 0) {
      keep_[i] = 0;
      alias_[i] = static_cast<std::int64_t>(likeliest);
    }
}

std::int64_t WeightedDraw::at(std::int64_t epoch, std::int64_t place) const {
  Random random(seed_, RandomStream::draw, static_cast<std::uint64_t>(epoch),
                static_cast<std::uint64_t>(place));
  const std::size_t column = random.below(keep_.size());
  return random.uniform() < keep_[column] ? static_cast<std::int64_t>(column) : alias_[column];
}

SampleAt permuted_order(std::uint64_t seed, std::int64_t count, std::int64_t size, bool shuffle) {
  LOCKSTEP_CHECK(count > 0 && size > 0);
  if (!shuffle)
    return [count, size](std::int64_t epoch, std::int64_t place) {
      // The turn continues in the next epoch.
      return (epoch % count * (size % count) + place) % count;
    };
  const std::int64_t rounds = (size - 1) / count + 1;
  return [order = SampleOrder(seed, count, true), count, rounds](std::int64_t epoch,
                                                                 std::int64_t place) {
    return order.at(epoch * rounds + place / count, place % count);
  };
}

std::int64_t first_global_row(const BatchPlan& batch, int rank, std::int64_t micro_index) {
  LOCKSTEP_CHECK(rank >= 0 && rank < batch.world_size);
  LOCKSTEP_CHECK(micro_index >= 0 && micro_index < batch.accumulation);
  if (batch.norm_rows > 0) return (micro_index * batch.world_size + rank) * batch.micro;
  return (rank * batch.accumulation + micro_index) * batch.micro;
}

std::int64_t EpochSteps::samples(std::int64_t step) const {
  LOCKSTEP_CHECK(size > 0 && global > 0 && step >= 0);
  return std::min(global, size - step % steps() * global);
}

Row EpochSteps::row_at(const SampleAt& order, std::int64_t step, std::int64_t global_row) const {
  LOCKSTEP_CHECK(size > 0 && global > 0 && step >= 0 && global_row >= 0);
  const std::int64_t number = global_row / rows_per_sample, first = step % steps() * global;
  const std::int64_t there = samples(step);
  Row row{.global_row = global_row, .epoch = step / steps(), .part = global_row % rows_per_sample};
  if (number < there)
    row.sample = order(row.epoch, first + number);
  else if (fill_from_own_step || number >= global)
    row.filler = order(row.epoch, first + number % there);
  else
    row.filler = order(row.epoch, (first + number) % size);
  return row;
}

}  // namespace lockstep
