// Turns pictures into a network's input, by our kernels or with ATen's operators.
#include "ops/picture_input/picture_input.h"

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "ops/augment/augment.h"
#include "ops/block_convolution/block_convolution.h"
#include "ops/channels_last/channels_last.h"
#include "ops/picture_input/picture_inline.h"
#include "ops/shared/own_kernels.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/stack.h>

#include <algorithm>
#include <atomic>

namespace lockstep {
namespace {

std::atomic<PictureKernel> picture_kernel = nullptr;

bool changes(const PictureInput& how) { return how.flip || how.brightness > 0 || how.contrast > 0; }

void check_set(const PictureSet& set, const PictureSet& first, const PictureInput& how) {
  const at::Tensor& x = set.pictures;
  if (x.dim() != 4 || x.scalar_type() != at::kByte || x.size(1) < 1 ||
      x.size(1) > picture_most_channels)
    throw Error(cat("picture_input wants pictures u8 [B, C, H, W] with 1 to 4 channels, but got ",
                    x.sizes(), " of ", x.scalar_type()));
  if (x.sizes().slice(1) != first.pictures.sizes().slice(1) ||
      x.device() != first.pictures.device())
    throw Error(cat("pictures of one picture_input must be of one size and on one device, but are ",
                    first.pictures.sizes(), " on ", first.pictures.device(), " and ", x.sizes(),
                    " on ", x.device()));
  if (!set.numbers.defined() || !changes(how)) return;
  if (set.numbers.dim() != 2 || set.numbers.size(0) != x.size(0) || set.numbers.size(1) != 3 ||
      set.numbers.scalar_type() != at::kFloat || set.numbers.device() != x.device())
    throw Error(cat("pictures are changed by three numbers each, f32 [", x.size(0), ", 3] on ",
                    x.device(), ", but got ", set.numbers.sizes(), " of ",
                    set.numbers.scalar_type(), " on ", set.numbers.device()));
}

void check_pictures(const std::vector<PictureSet>& sets, const PictureInput& how) {
  if (sets.empty()) throw Error("picture_input wants a set of pictures at least");
  for (const PictureSet& set : sets) check_set(set, sets[0], how);
  const auto channels = static_cast<std::size_t>(sets[0].pictures.size(1));
  for (const auto* const of_channels : {&how.mean, &how.factor})
    if (!of_channels->empty() && of_channels->size() != channels)
      throw Error(cat("mean and factor must have a number for each of the ", channels,
                      " channels, but have ", of_channels->size()));
  if (!at::isFloatingType(how.dtype))
    throw Error(cat("picture_input makes floating numbers, not ", how.dtype));
}

// Returns [1, C, 1, 1]. It is made on the device, so that a graph can capture this.
at::Tensor of_channels(const std::vector<double>& numbers, const at::Tensor& like) {
  std::vector<at::Tensor> each;
  for (const double number : numbers) each.push_back(at::full({}, number, like.options()));
  return at::stack(each).view({1, -1, 1, 1});
}

at::Tensor pictures_by_aten(const PictureSet& set, const PictureInput& how) {
  at::Tensor x = set.pictures.to(at::kFloat);
  if (set.numbers.defined()) {
    const auto factors = [&](std::int64_t column, double most) {
      return between(set.numbers.select(1, column), 1 - most, 1 + most);
    };
    if (how.flip) x = flip_rows(x, {3}, set.numbers.narrow(1, 0, 1));
    if (how.brightness > 0) x = scale_brightness(x, factors(1, how.brightness));
    if (how.contrast > 0) x = scale_contrast(x, factors(2, how.contrast));
  }
  if (!how.mean.empty()) x = x.sub(of_channels(how.mean, x));
  if (!how.factor.empty()) x = x.mul(of_channels(how.factor, x));
  return x.to(how.dtype);
}

PictureShape picture_shape_of(const at::Tensor& pictures) {
  const auto channels = static_cast<int>(pictures.size(1)),
             height = static_cast<int>(pictures.size(2)),
             width = static_cast<int>(pictures.size(3));
  PictureShape shape{.channels = channels, .height = height, .width = width};
  if (pictures.is_contiguous()) {
    shape.channel_step = height * width;
    shape.row_step = width;
    shape.column_step = 1;
  } else {
    shape.channel_step = 1;
    shape.row_step = width * channels;
    shape.column_step = channels;
  }
  return shape;
}

PictureRule rule_of(const PictureInput& how) {
  PictureRule rule{.flips = how.flip,
                   .changes_brightness = how.brightness > 0,
                   .changes_contrast = how.contrast > 0};
  // The same numbers as in between(), whose scalars ATen rounds to f32.
  const auto low = [](double most) { return static_cast<float>(1 - most); };
  const auto range = [](double most) { return static_cast<float>((1 + most) - (1 - most)); };
  rule.brightness_low = low(how.brightness);
  rule.brightness_range = range(how.brightness);
  rule.contrast_low = low(how.contrast);
  rule.contrast_range = range(how.contrast);
  const auto narrow = [](double number) { return static_cast<float>(number); };
  std::ranges::transform(how.mean, rule.mean, narrow);
  std::ranges::transform(how.factor, rule.factor, narrow);
  return rule;
}

bool picture_kernel_serves(const PictureSet& first, const PictureInput& how) {
  const at::Tensor& x = first.pictures;
  const std::int64_t bytes = x.size(1) * x.size(2) * x.size(3);
  return x.is_cuda() && picture_kernel.load() != nullptr && kernel_dtype(how.dtype) && bytes > 0 &&
         bytes <= picture_most_bytes;
}

// Writes the set's part of the result to `out`.
void by_kernel(const PictureSet& set, const PictureInput& how, const at::Tensor& out) {
  const bool dense =
      set.pictures.is_contiguous() || set.pictures.is_contiguous(at::MemoryFormat::ChannelsLast);
  const at::Tensor pictures = dense ? set.pictures : set.pictures.contiguous();
  const bool by_numbers = set.numbers.defined() && changes(how);
  const at::Tensor numbers = by_numbers ? set.numbers.contiguous() : at::Tensor();
  PictureArguments arguments{.pictures = pictures.const_data_ptr<std::uint8_t>(),
                             .numbers = by_numbers ? numbers.const_data_ptr<float>() : nullptr,
                             .out = out.mutable_data_ptr(),
                             .dtype = kernel_dtype(how.dtype).value(),
                             .shape = picture_shape_of(pictures),
                             .rule = rule_of(how),
                             .rows = pictures.size(0),
                             .in_blocks = how.layout == PictureLayout::blocks};
  at::Tensor sums;
  if (!by_numbers) arguments.rule.changes_contrast = false;
  if (arguments.rule.changes_contrast) {
    constexpr std::int64_t bytes_per_sum = 1 << 14;
    const std::int64_t bytes = pictures.numel() / pictures.size(0);
    arguments.sums_per_picture = static_cast<int>(std::clamp<std::int64_t>(
        bytes / bytes_per_sum, 1, static_cast<std::int64_t>(picture_most_sums)));
    sums = at::empty({pictures.size(0), arguments.sums_per_picture},
                     pictures.options().dtype(at::kLong));
    arguments.sums = reinterpret_cast<std::uint64_t*>(sums.mutable_data_ptr<std::int64_t>());
  }
  picture_kernel.load()(arguments);
}

}  // namespace

at::Tensor picture_input_reference(const std::vector<PictureSet>& sets, const PictureInput& how) {
  check_pictures(sets, how);
  const at::NoGradGuard no_gradient;
  std::vector<at::Tensor> all;
  for (const PictureSet& set : sets) all.push_back(pictures_by_aten(set, how));
  const at::Tensor x = all.size() == 1 ? all[0] : at::cat(all);
  return how.layout == PictureLayout::blocks ? in_blocks(x) : as_channels_last(x);
}

at::Tensor picture_input(const std::vector<PictureSet>& sets, const PictureInput& how) {
  check_pictures(sets, how);
  if (!picture_kernel_serves(sets[0], how)) return picture_input_reference(sets, how);
  const at::Tensor& first = sets[0].pictures;
  std::int64_t rows = 0;
  for (const PictureSet& set : sets) rows += set.pictures.size(0);
  const bool in_blocks = how.layout == PictureLayout::blocks;
  const auto options =
      first.options().dtype(how.dtype).memory_format(at::MemoryFormat::ChannelsLast);
  const at::Tensor out =
      in_blocks ? at::empty({rows, block_channels, blocks_along(first.size(2)),
                             blocks_along(first.size(3))},
                            options)
                : at::empty({rows, first.size(1), first.size(2), first.size(3)}, options);
  std::int64_t begin = 0;
  for (const PictureSet& set : sets) {
    const std::int64_t count = set.pictures.size(0);
    if (count > 0) by_kernel(set, how, out.narrow(0, begin, count));
    begin += count;
  }
  return out;
}

void register_cuda_picture_input(PictureKernel kernel) { picture_kernel = kernel; }

}  // namespace lockstep
