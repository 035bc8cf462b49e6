// RoIAlign as an operation with gradients, by our kernels or on the CPU.
#include "ops/roi_align/roi_align.h"

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "ops/roi_align/roi_align_paths.h"
#include "ops/shared/index_check.h"
#include "ops/shared/own_kernels.h"
#include "ops/shared/voxel_layout.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cmath>
#include <limits>
#include <vector>

namespace lockstep {
namespace {

constexpr std::int64_t most_sampling = 64;

RoiAlignKernels roi_align_kernels;  // set once, before the first step

void check_roi_align(const at::Tensor& features, const at::Tensor& boxes,
                     const at::Tensor& pictures, const RoiAlignOptions& options) {
  if (features.dim() != 4 || !features.is_floating_point())
    throw Error(cat("roi_align wants floating features [N, C, H, W], but got ", features.sizes(),
                    " of ", features.scalar_type()));
  if (boxes.dim() != 2 || boxes.size(1) != 4 || boxes.scalar_type() != at::kFloat)
    throw Error(cat("roi_align wants boxes f32 [R, 4], but got ", boxes.sizes(), " of ",
                    boxes.scalar_type()));
  const bool whole = pictures.scalar_type() == at::kLong || pictures.scalar_type() == at::kInt;
  if (pictures.dim() != 1 || pictures.size(0) != boxes.size(0) || !whole)
    throw Error(cat("roi_align wants the picture of each of ", boxes.size(0),
                    " boxes, i32 or i64 [R], but got ", pictures.sizes(), " of ",
                    pictures.scalar_type()));
  if (boxes.device() != features.device() || pictures.device() != features.device())
    throw Error(cat("roi_align wants everything on one device, but features are on ",
                    features.device().str(), ", boxes on ", boxes.device().str(),
                    " and their pictures on ", pictures.device().str()));
  const auto bins = [](std::int64_t count) { return count >= 1 && count <= roi_align_most_bins; };
  if (!bins(options.height) || !bins(options.width))
    throw Error(cat("roi_align's bins must be 1 to ", roi_align_most_bins,
                    " along each axis, but are ", options.height, " x ", options.width));
  if (options.sampling_ratio < 0 || options.sampling_ratio > most_sampling)
    throw Error(cat("roi_align's sampling_ratio must be 0 to ", most_sampling, ", but is ",
                    options.sampling_ratio));
  if (!(options.spatial_scale > 0) || !std::isfinite(options.spatial_scale))
    throw Error(cat("roi_align's spatial_scale must be above 0, but is ", options.spatial_scale));
}

// Data that both directions need. sizes: the sizes of features, [N, C, H, W].
struct Regions {
  at::Tensor boxes, pictures;
  std::vector<std::int64_t> sizes;
  RoiAlignOptions options;
  bool channels_last = false;  // whether features and result have this memory format

  at::MemoryFormat format() const {
    return channels_last ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous;
  }
  std::vector<std::int64_t> result_sizes() const {
    return {boxes.size(0), sizes[1], options.height, options.width};
  }
  bool empty() const {
    return boxes.size(0) == 0 || sizes[0] * sizes[1] * sizes[2] * sizes[3] == 0;
  }
};

RoiAlignShape roi_shape(const Regions& regions, at::ScalarType type) {
  return {.boxes = regions.boxes.const_data_ptr<float>(),
          .pictures = regions.pictures.const_data_ptr<std::int64_t>(),
          .dtype = kernel_dtype(type).value(),
          .rois = regions.boxes.size(0),
          .rows = regions.sizes[0],
          .channels = regions.sizes[1],
          .height = regions.sizes[2],
          .width = regions.sizes[3],
          .bins_y = static_cast<int>(regions.options.height),
          .bins_x = static_cast<int>(regions.options.width),
          .scale = static_cast<float>(regions.options.spatial_scale),
          .sampling = static_cast<int>(regions.options.sampling_ratio),
          .aligned = regions.options.aligned};
}

bool roi_kernels_serve(const at::Tensor& values) {
  return values.is_cuda() && roi_align_kernels.forward != nullptr &&
         kernel_dtype(values.scalar_type());
}

// Converts [N, C, H, W] on any device to the form of the CPU functions: [N, H, W, C], f32 or f64.
at::Tensor for_cpu(const at::Tensor& values) {
  const auto exact = values.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  return values.to(at::kCPU, exact).permute({0, 2, 3, 1}).contiguous();
}
// Converts the result of a CPU function back.
at::Tensor from_cpu(const at::Tensor& values, const at::Tensor& like, at::MemoryFormat format) {
  return values.permute({0, 3, 1, 2}).to(like.options()).contiguous(format);
}

at::Tensor roi_forward(const at::Tensor& features, const Regions& regions) {
  if (regions.empty())
    return at::zeros(regions.result_sizes(), features.options()).contiguous(regions.format());
  if (!roi_kernels_serve(features))
    return from_cpu(roi_align_cpu(for_cpu(features), regions.boxes.cpu(), regions.pictures.cpu(),
                                  regions.options),
                    features, regions.format());
  const at::Tensor rows = lying_densely(features, at::MemoryFormat::ChannelsLast);
  const at::Tensor out = at::empty(
      regions.result_sizes(), features.options().memory_format(at::MemoryFormat::ChannelsLast));
  roi_align_kernels.forward({.shape = roi_shape(regions, features.scalar_type()),
                             .features = rows.const_data_ptr(),
                             .out = out.mutable_data_ptr()});
  return out.contiguous(regions.format());
}

at::Tensor roi_backward(const at::Tensor& of_out, const Regions& regions) {
  const auto& sizes = regions.sizes;
  if (regions.empty()) return at::zeros(sizes, of_out.options()).contiguous(regions.format());
  if (!roi_kernels_serve(of_out))
    return from_cpu(
        roi_align_backward_cpu(for_cpu(of_out), regions.boxes.cpu(), regions.pictures.cpu(),
                               {sizes[0], sizes[2], sizes[3], sizes[1]}, regions.options),
        of_out, regions.format());
  const at::Tensor rows = lying_densely(of_out, at::MemoryFormat::ChannelsLast);
  const at::Tensor of_features =
      at::empty(sizes, of_out.options().memory_format(at::MemoryFormat::ChannelsLast));
  roi_align_kernels.backward({.shape = roi_shape(regions, of_out.scalar_type()),
                              .of_out = rows.const_data_ptr(),
                              .of_features = of_features.mutable_data_ptr()});
  return of_features.contiguous(regions.format());
}

using torch::autograd::AutogradContext, torch::autograd::variable_list;

void keep_regions(AutogradContext* context, const Regions& regions) {
  const RoiAlignOptions& options = regions.options;
  context->save_for_backward({regions.boxes, regions.pictures});
  context->saved_data["sizes"] = regions.sizes;
  context->saved_data["whole"] =
      std::vector<std::int64_t>{options.height, options.width, options.sampling_ratio,
                                std::int64_t{options.aligned}, std::int64_t{regions.channels_last}};
  context->saved_data["scale"] = options.spatial_scale;
}

Regions kept_regions(AutogradContext* context) {
  const variable_list saved = context->get_saved_variables();
  const std::vector<std::int64_t> whole = context->saved_data["whole"].toIntVector();
  return {.boxes = saved[0],
          .pictures = saved[1],
          .sizes = context->saved_data["sizes"].toIntVector(),
          .options = {.height = whole[0],
                      .width = whole[1],
                      .spatial_scale = context->saved_data["scale"].toDouble(),
                      .sampling_ratio = whole[2],
                      .aligned = whole[3] != 0},
          .channels_last = whole[4] != 0};
}

// The result is linear in `features`, so the gradient of each direction is the other direction.
struct RoiAligned : torch::autograd::Function<RoiAligned> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& features,
                            const Regions& regions) {
    keep_regions(context, regions);
    return roi_forward(features, regions);
  }
  static variable_list backward(AutogradContext* context, variable_list gradients);
};

struct RoiSpread : torch::autograd::Function<RoiSpread> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& of_out,
                            const Regions& regions) {
    keep_regions(context, regions);
    return roi_backward(of_out, regions);
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    if (!gradients[0].defined()) return {{}, {}};
    return {RoiAligned::apply(gradients[0], kept_regions(context)), {}};
  }
};

variable_list RoiAligned::backward(AutogradContext* context, variable_list gradients) {
  if (!gradients[0].defined()) return {{}, {}};
  return {RoiSpread::apply(gradients[0], kept_regions(context)), {}};
}

}  // namespace

at::Tensor roi_align(const at::Tensor& features, const at::Tensor& boxes,
                     const at::Tensor& picture_of_box, const RoiAlignOptions& options) {
  check_roi_align(features, boxes, picture_of_box, options);
  check_indices(picture_of_box, std::numeric_limits<std::int64_t>::min(), features.size(0),
                "pictures of boxes");
  const bool last = features.suggest_memory_format() != at::MemoryFormat::Contiguous;
  return RoiAligned::apply(
      features, Regions{.boxes = lying_densely(boxes.detach(), at::MemoryFormat::Contiguous),
                        .pictures = picture_of_box.to(at::kLong).contiguous(),
                        .sizes = features.sizes().vec(),
                        .options = options,
                        .channels_last = last});
}

void register_cuda_roi_align(RoiAlignKernels kernels) { roi_align_kernels = kernels; }

}  // namespace lockstep
