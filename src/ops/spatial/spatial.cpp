// Chooses between ATen's operators and our own versions.
#include "ops/spatial/spatial.h"

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "ops/shared/own_kernels.h"
#include "ops/spatial/spatial_paths.h"

#include <ATen/Context.h>
#include <ATen/ops/adaptive_avg_pool2d.h>
#include <ATen/ops/adaptive_avg_pool3d.h>
#include <ATen/ops/avg_pool2d.h>
#include <ATen/ops/avg_pool3d.h>
#include <ATen/ops/group_norm.h>
#include <ATen/ops/max_pool2d_with_indices.h>
#include <ATen/ops/max_pool3d_with_indices.h>
#include <ATen/ops/upsample_bilinear2d.h>
#include <ATen/ops/upsample_trilinear3d.h>

#include <algorithm>
#include <vector>

namespace lockstep {
namespace {

bool needs_order(const at::Tensor& x) {
  return x.is_cuda() && at::globalContext().deterministicAlgorithms();
}

// Restores the layout of x, because some of ATen's operators return contiguous tensors.
at::Tensor in_layout_of(const at::Tensor& x, const at::Tensor& result) {
  return result.contiguous(x.suggest_memory_format());
}

void check_spatial(const char* operation, const at::Tensor& x) {
  if ((x.dim() == 4 || x.dim() == 5) && x.is_floating_point()) return;
  throw Error(cat(operation, " wants floating [B, C, H, W] or [B, C, D, H, W], but got ", x.sizes(),
                  " of ", x.scalar_type()));
}

}  // namespace

std::vector<std::int64_t> per_dimension(const at::Tensor& x, at::IntArrayRef sizes) {
  const auto dimensions = static_cast<std::size_t>(x.dim() - 2);
  if (sizes.size() == dimensions) return sizes.vec();
  if (sizes.size() != 1)
    throw Error(cat("an operator over ", dimensions,
                    " spatial dimensions wants as many sizes, or "
                    "one for all, but got ",
                    sizes.size()));
  return std::vector<std::int64_t>(dimensions, sizes[0]);
}

at::Tensor upsample_linear(const at::Tensor& x, at::IntArrayRef sizes, bool align_corners) {
  check_spatial("upsample_linear", x);
  const auto wanted = per_dimension(x, sizes);
  if (needs_order(x)) return upsample_linear_in_order(x, wanted, align_corners);
  return in_layout_of(x, x.dim() == 4 ? at::upsample_bilinear2d(x, wanted, align_corners)
                                      : at::upsample_trilinear3d(x, wanted, align_corners));
}

at::Tensor max_pool(const at::Tensor& x, at::IntArrayRef window, at::IntArrayRef stride,
                    at::IntArrayRef padding) {
  check_spatial("max_pool", x);
  const auto windows = per_dimension(x, window), pads = per_dimension(x, padding);
  const auto steps = stride.empty() ? windows : per_dimension(x, stride);
  const bool padded = std::any_of(pads.begin(), pads.end(), [](auto pad) { return pad > 0; });
  if (!padded && steps == windows && window_pool_serves(x, windows))
    return pool_windows_by_kernel(x, windows).largest;
  if (sliding_pool_serves(x, windows, steps, pads))
    return sliding_pool_by_kernel(x, windows, steps, pads);
  if (x.dim() == 4) return std::get<0>(at::max_pool2d_with_indices(x, windows, steps, pads));
  if (needs_order(x)) return max_pool_in_order(x, windows, steps, pads);
  return in_layout_of(x, std::get<0>(at::max_pool3d_with_indices(x, windows, steps, pads)));
}

PooledWindows pool_windows(const at::Tensor& x, at::IntArrayRef window) {
  check_spatial("pool_windows", x);
  const auto windows = per_dimension(x, window);
  if (window_pool_serves(x, windows)) return pool_windows_by_kernel(x, windows);
  return {max_pool(x, windows), x};
}

at::Tensor average_pool(const at::Tensor& x, at::IntArrayRef window, at::IntArrayRef stride,
                        at::IntArrayRef padding) {
  check_spatial("average_pool", x);
  const auto windows = per_dimension(x, window), pads = per_dimension(x, padding);
  const auto steps = stride.empty() ? windows : per_dimension(x, stride);
  if (x.dim() == 4) {
    // With padding, the gradient of ATen's channels-last kernel is wrong on GPUs until torch 2.14
    // (pytorch issue 188344).
    const bool padded = std::any_of(pads.begin(), pads.end(), [](auto pad) { return pad > 0; });
    if (x.is_cuda() && padded)
      return in_layout_of(x, at::avg_pool2d(x.contiguous(), windows, steps, pads));
    return at::avg_pool2d(x, windows, steps, pads);
  }
  // ATen's CPU operator supports only f32 and f64.
  const bool low_on_cpu =
      x.is_cpu() && x.scalar_type() != at::kFloat && x.scalar_type() != at::kDouble;
  if (needs_order(x) || low_on_cpu) return average_pool_in_order(x, windows, steps, pads);
  return in_layout_of(x, at::avg_pool3d(x, windows, steps, pads));
}

at::Tensor adaptive_average_pool(const at::Tensor& x, at::IntArrayRef sizes) {
  check_spatial("adaptive_average_pool", x);
  const auto wanted = per_dimension(x, sizes);
  if (needs_order(x)) return adaptive_average_pool_in_order(x, wanted);
  return in_layout_of(
      x, x.dim() == 4 ? at::adaptive_avg_pool2d(x, wanted) : at::adaptive_avg_pool3d(x, wanted));
}

at::Tensor group_norm_layer(const at::Tensor& x, std::int64_t groups, const at::Tensor& weight,
                            const at::Tensor& bias, double epsilon) {
  check_spatial("group_norm_layer", x);
  if (groups < 1 || x.size(1) % groups != 0)
    throw Error(
        cat("group_norm_layer cannot share ", x.size(1), " channels out to ", groups, " groups"));
  if (x.is_cuda() && x.suggest_memory_format() != at::MemoryFormat::Contiguous && x.numel() > 0)
    return group_norm_channels_last(x, groups, weight, bias, epsilon);
  if (x.is_cpu()) return group_norm_of_aten(x, groups, weight, bias, epsilon);
  return at::group_norm(x, groups, if_defined(weight), if_defined(bias), epsilon);
}

}  // namespace lockstep
