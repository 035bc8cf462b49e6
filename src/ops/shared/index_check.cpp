// Checks the smallest and the largest index.
#include "ops/shared/index_check.h"

#include "core/base/error.h"
#include "core/base/text/text.h"

#include <ATen/ops/aminmax.h>

#include <algorithm>
#include <limits>

namespace lockstep {

void check_indices(const at::Tensor& indices, std::int64_t first, std::int64_t end,
                   const std::string& name) {
  if (!indices.is_cpu() || indices.numel() == 0) return;
  const auto [low, high] = at::aminmax(indices);
  const auto least = low.item<std::int64_t>(), most = high.item<std::int64_t>();
  if (least >= first && most < end) return;
  const bool no_lowest = first == std::numeric_limits<std::int64_t>::min();
  throw Error(cat(name, " must be ", no_lowest ? "" : cat("at least ", first, " and "), "below ",
                  end, ", but one is ", most >= end ? most : least),
              "check the data against the size that the model was built for");
}

void check_offsets(const at::Tensor& offsets, std::int64_t items, const std::string& name) {
  if (offsets.dim() != 1 || offsets.size(0) < 1 ||
      (offsets.scalar_type() != at::kLong && offsets.scalar_type() != at::kInt))
    throw Error(cat("the offsets of ", name, " must be i32 or i64 [rows + 1], but are ",
                    offsets.sizes(), " of ", offsets.scalar_type()));
  if (!offsets.is_cpu()) return;
  const at::Tensor known = offsets.to(at::kLong).contiguous();
  const std::int64_t* begin = known.const_data_ptr<std::int64_t>();
  const std::int64_t* end = begin + known.size(0);
  if (*begin != 0 || end[-1] > items || !std::is_sorted(begin, end))
    throw Error(cat("the offsets of ", name, " must begin at 0, not fall and end at ", items,
                    " at most, but begin at ", *begin, " and end at ", end[-1]));
}

}  // namespace lockstep
