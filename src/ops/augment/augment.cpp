#include "ops/augment/augment.h"

#include "core/base/error.h"
#include "core/base/text/text.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/where.h>

#include <vector>

namespace lockstep {
namespace {

// Views one number per row so that it can be broadcast over x.
at::Tensor per_row(const at::Tensor& x, const at::Tensor& numbers) {
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(x.dim()), 1);
  sizes[0] = x.size(0);
  return numbers.reshape(sizes);
}

void check_factors(const at::Tensor& x, const at::Tensor& factors) {
  if (x.dim() < 2 || !x.is_floating_point())
    throw Error(cat("brightness and contrast are of floating rows [B, …], but x is ", x.sizes(),
                    " of ", x.scalar_type()),
                "turn whole numbers into floating ones first: x.to(context.compute_dtype)");
  if (factors.dim() != 1 || factors.size(0) != x.size(0))
    throw Error(cat("the factors must be one for each of the ", x.size(0), " rows, but are ",
                    factors.sizes()));
}

}  // namespace

at::Tensor flip_rows(const at::Tensor& x, at::IntArrayRef axes, const at::Tensor& numbers) {
  if (x.dim() < 2 || numbers.dim() != 2 || numbers.size(0) != x.size(0) ||
      numbers.size(1) < static_cast<std::int64_t>(axes.size()))
    throw Error(cat("flip_rows wants a number for each row and axis, [", x.size(0), ", ",
                    axes.size(), "] or more, but got ", numbers.sizes()));
  at::Tensor result = x;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] < 1 || axes[i] >= x.dim())
      throw Error(cat("flip_rows cannot turn rows ", x.sizes(), " around along axis ", axes[i]),
                  cat("axes are 1 to ", x.dim() - 1, "; axis 0 is the batch's"));
    const at::Tensor turned = numbers.select(1, static_cast<std::int64_t>(i)).lt(0.5);
    result = at::where(per_row(x, turned), result.flip({axes[i]}), result);
  }
  return result;
}

at::Tensor between(const at::Tensor& numbers, double low, double high) {
  return numbers.mul(high - low).add(low);
}

at::Tensor scale_brightness(const at::Tensor& x, const at::Tensor& factors) {
  check_factors(x, factors);
  return x.mul(per_row(x, factors).to(x.scalar_type()));
}

at::Tensor scale_contrast(const at::Tensor& x, const at::Tensor& factors) {
  check_factors(x, factors);
  std::vector<std::int64_t> all_but_rows;
  for (std::int64_t d = 1; d < x.dim(); ++d) all_but_rows.push_back(d);
  const auto work = x.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  const at::Tensor mean = x.mean(all_but_rows, /*keepdim=*/true, work);
  const at::Tensor factor = per_row(x, factors).to(work);
  return x.to(work).sub(mean).mul(factor).add(mean).to(x.scalar_type());
}

}  // namespace lockstep
