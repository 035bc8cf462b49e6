// The forms of spatial operators that are not ATen's beside ATen's own, for the tests on the CPU
// and on GPUs.
#pragma once

#include "fakes/fused_cases.h"
#include "ops/spatial/spatial_paths.h"

#include <ATen/ops/adaptive_avg_pool2d.h>
#include <ATen/ops/adaptive_avg_pool3d.h>
#include <ATen/ops/avg_pool2d.h>
#include <ATen/ops/avg_pool3d.h>
#include <ATen/ops/group_norm.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/max_pool3d.h>
#include <ATen/ops/upsample_bilinear2d.h>
#include <ATen/ops/upsample_trilinear3d.h>

namespace lockstep::testing {

// inputs: x [2, 6, …], then parameters; contiguous.
inline std::vector<FusedCase> spatial_cases(const at::TensorOptions& options = {}) {
  const at::Tensor image = at::randn({2, 6, 7, 5}, options);
  const at::Tensor volume = at::randn({2, 6, 7, 5, 4}, options);
  std::vector<FusedCase> all;
  for (const bool corners : {false, true}) {
    for (const std::vector<std::int64_t>& to :
         std::vector<std::vector<std::int64_t>>{{14, 10}, {3, 11}, {7, 5}, {1, 1}})
      all.push_back({"upsample_bilinear2d",
                     {image},
                     [=](const Tensors& t) { return upsample_linear_in_order(t[0], to, corners); },
                     [=](const Tensors& t) { return at::upsample_bilinear2d(t[0], to, corners); }});
    for (const std::vector<std::int64_t>& to :
         std::vector<std::vector<std::int64_t>>{{14, 10, 8}, {3, 11, 1}})
      all.push_back(
          {"upsample_trilinear3d",
           {volume},
           [=](const Tensors& t) { return upsample_linear_in_order(t[0], to, corners); },
           [=](const Tensors& t) { return at::upsample_trilinear3d(t[0], to, corners); }});
  }
  struct Pool {
    std::int64_t window, stride, padding;
  };
  for (const Pool& pool : {Pool{2, 2, 0}, Pool{3, 2, 1}, Pool{3, 1, 1}}) {
    const auto [window, stride, padding] = pool;
    const std::vector<std::int64_t> w2(2, window), s2(2, stride), p2(2, padding);
    const std::vector<std::int64_t> w3(3, window), s3(3, stride), p3(3, padding);
    all.push_back({"max_pool2d",
                   {image},
                   [=](const Tensors& t) { return max_pool_in_order(t[0], w2, s2, p2); },
                   [=](const Tensors& t) { return at::max_pool2d(t[0], w2, s2, p2); }});
    all.push_back({"max_pool3d",
                   {volume},
                   [=](const Tensors& t) { return max_pool_in_order(t[0], w3, s3, p3); },
                   [=](const Tensors& t) { return at::max_pool3d(t[0], w3, s3, p3); }});
    all.push_back({"avg_pool2d",
                   {image},
                   [=](const Tensors& t) { return average_pool_in_order(t[0], w2, s2, p2); },
                   [=](const Tensors& t) { return at::avg_pool2d(t[0], w2, s2, p2); }});
    all.push_back({"avg_pool3d",
                   {volume},
                   [=](const Tensors& t) { return average_pool_in_order(t[0], w3, s3, p3); },
                   [=](const Tensors& t) { return at::avg_pool3d(t[0], w3, s3, p3); }});
  }
  all.push_back({"adaptive_avg_pool2d",
                 {image},
                 [](const Tensors& t) {
                   return adaptive_average_pool_in_order(t[0], {3, 5});
                 },
                 [](const Tensors& t) {
                   return at::adaptive_avg_pool2d(t[0], {3, 5});
                 }});
  all.push_back({"adaptive_avg_pool3d",
                 {volume},
                 [](const Tensors& t) {
                   return adaptive_average_pool_in_order(t[0], {3, 1, 6});
                 },
                 [](const Tensors& t) {
                   return at::adaptive_avg_pool3d(t[0], {3, 1, 6});
                 }});
  for (const at::Tensor& x : {image, volume})
    for (const std::int64_t groups : {1, 2, 6}) {
      all.push_back(
          {"group_norm",
           {x, at::randn({6}, options), at::randn({6}, options)},
           [=](const Tensors& t) {
             return group_norm_channels_last(t[0], groups, t[1], t[2], 1e-5);
           },
           [=](const Tensors& t) { return at::group_norm(t[0], groups, t[1], t[2], 1e-5); }});
      all.push_back(
          {"group_norm without weight and bias",
           {x},
           [=](const Tensors& t) { return group_norm_channels_last(t[0], groups, {}, {}, 1e-5); },
           [=](const Tensors& t) { return at::group_norm(t[0], groups); }});
    }
  return all;
}

inline at::MemoryFormat channels_last_of(const at::Tensor& x) {
  return x.dim() == 4 ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::ChannelsLast3d;
}

}  // namespace lockstep::testing
