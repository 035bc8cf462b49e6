// The smallest and the largest of the indices decide.
#include "kernels/index_check.h"

#include "base/error.h"
#include "base/text.h"

#include <ATen/ops/aminmax.h>

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

}  // namespace lockstep
