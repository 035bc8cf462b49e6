// The sample order as a keyed permutation, and the samples of a step's rows.
#include "plan/order.h"

#include "base/check.h"
#include "plan/philox.h"

#include <algorithm>
#include <bit>

namespace lockstep {
namespace {

// Halves of fewer bits shuffle too few ways; a small count walks through a larger domain instead.
constexpr int smallest_domain_bits = 8;
constexpr int rounds = 8;

// A Feistel network over `bits` bits: each round changes one half by a keyed function of the other,
// which can be undone, so that the whole is a permutation of [0, 2^bits).
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

std::int64_t first_global_row(const BatchPlan& batch, int rank, std::int64_t micro_index) {
  LOCKSTEP_CHECK(rank >= 0 && rank < batch.world_size);
  LOCKSTEP_CHECK(micro_index >= 0 && micro_index < batch.accumulation);
  return (rank * batch.accumulation + micro_index) * batch.micro;
}

Row row_at(const SampleOrder& order, std::int64_t count, std::int64_t global, std::int64_t step,
           std::int64_t global_row) {
  LOCKSTEP_CHECK(count > 0 && global > 0 && step >= 0 && global_row >= 0 && global_row < global);
  const std::int64_t steps_per_epoch = (count - 1) / global + 1;
  Row row{.global_row = global_row, .epoch = step / steps_per_epoch};
  const std::int64_t position = step % steps_per_epoch * global + global_row;
  (position < count ? row.sample : row.filler) = order.at(row.epoch, position % count);
  return row;
}

}  // namespace lockstep
