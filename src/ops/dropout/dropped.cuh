// Dropout of elements, as a part of other kernels.
#pragma once

#include "ops/philox/philox_inline.h"
#include "ops/shared/device/element.cuh"
#include "ops/shared/kernel_arguments.h"

namespace lockstep {

template <class T>
__device__ T dropped(T value, std::uint32_t word, std::uint32_t threshold, float scale) {
  return word >= threshold ? from_float<T>(__fmul_rn(to_float(value), scale)) : from_float<T>(0.0f);
}

// The row that `item` belongs to. It is the last row that begins at or before the item. If several
// rows begin there, it is the one that is not empty. `item` must be below the last offset.
__device__ inline std::int64_t row_of_item(const std::int64_t* offsets, std::int64_t rows,
                                           std::int64_t item) {
  std::int64_t low = 0, high = rows;
  while (high - low > 1) {
    const std::int64_t middle = (low + high) / 2;
    (offsets[middle] <= item ? low : high) = middle;
  }
  return low;
}

// Dropout of an item of [items, width]. The constructor reads everything needed from memory. So
// construct it before waiting for slower loads.
class DroppedItem {
 public:
  DroppedItem() = default;
  __device__ DroppedItem(const BranchDropout& dropout, std::int64_t item, std::int64_t width) {
    std::int64_t row = 0, first = 0;
    if (dropout.offsets == nullptr) {
      row = item / dropout.items_per_row;
      first = row * dropout.items_per_row;
    } else {
      is_used_ = item < dropout.offsets[dropout.rows];
      row = is_used_ ? row_of_item(dropout.offsets, dropout.rows, item) : 0;
      first = dropout.offsets[row];
    }
    quad_ = static_cast<std::uint32_t>((item - first) * (width / 4));
    place_ = static_cast<std::uint32_t>(dropout.counters[2] + row);
    step_ = static_cast<std::uint32_t>(dropout.counters[1]);
    seed_ = dropout.counters[0];
  }

  // values: eight neighbouring columns from `column` on. They are rounded to T before and after the
  // dropout.
  template <class T>
  __device__ void drop(const BranchDropout& dropout, float (&values)[8], int column) const {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const PhiloxWords words = dropout_words(quad_ + static_cast<std::uint32_t>(column / 4 + half),
                                              place_, step_, dropout.layer, seed_);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        float& value = values[4 * half + i];
        value = is_used_ ? to_float(dropped(from_float<T>(value), words.word[i], dropout.threshold,
                                            dropout.scale))
                         : 0.0F;
      }
    }
  }

 private:
  std::uint32_t quad_ = 0, place_ = 0, step_ = 0;  // in the layout of Philox's counter
  std::int64_t seed_ = 0;
  bool is_used_ = true;
};

}  // namespace lockstep
