// The layout of the parameters, the views into it, and the copy that the model computes with.
#include "training/parameters/parameter_storage.h"

#include "backends/layout.h"
#include "training/distributed/process_group.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <utility>

namespace lockstep {

ParameterStorage::ParameterStorage(const std::vector<Parameter>& registered, at::Device device,
                                   at::ScalarType compute_dtype, ProcessGroup* sharing,
                                   std::int64_t bucket_bytes, OptimizerKind optimizer)
    : ParameterStorage(sort_parameters(registered), device, compute_dtype, sharing, bucket_bytes,
                       optimizer) {}

ParameterStorage::ParameterStorage(ModelParameters sorted, at::Device device,
                                   at::ScalarType compute_dtype, ProcessGroup* sharing,
                                   std::int64_t bucket_bytes, OptimizerKind optimizer)
    : frozen_(std::move(sorted.frozen), device, compute_dtype),
      aliases_(std::move(sorted.aliases)),
      sharing_(sharing != nullptr && sharing->size() > 1 ? sharing : nullptr) {
  for (UniqueParameter& one : sorted.trained) {
    places_.push_back({.elements = one.parameter.tensor.numel(),
                       .strides = dense_strides(one.parameter.tensor),
                       .handles = std::move(one.handles)});
    parameters_.push_back(std::move(one.parameter));
  }
  lay_out_parameters(bucket_bytes, optimizer);
  find_own_shards();
  const at::NoGradGuard no_grad;
  const auto flat = [&](std::int64_t elements, at::ScalarType dtype) {
    return at::zeros({elements}, at::TensorOptions().dtype(dtype).device(device));
  };
  const bool low = compute_dtype != at::kFloat;
  master_ = flat(low ? own_elements() : elements_, at::kFloat);
  if (low) working_ = flat(elements_, compute_dtype);
  for (std::size_t i = 0; i < parameters_.size(); ++i) set_weights(i, parameters_[i].tensor);
  point_at(weights());
}

void ParameterStorage::lay_out_parameters(std::int64_t bucket_bytes, OptimizerKind optimizer) {
  const std::int64_t ranks = sharing_ != nullptr ? sharing_->size() : 1;
  std::vector<std::int64_t> sizes;
  for (const ParameterPlace& place : places_) sizes.push_back(place.elements);
  std::vector<bool> whole;
  for (const Granularity one :
       granularities(optimizer, optimized_parameters(parameters_, aliases_)))
    whole.push_back(one == Granularity::matrix);
  ArenaLayout layout;
  if (ranks > 1 && std::find(whole.begin(), whole.end(), true) != whole.end()) {
    BucketedLayout made = lay_out_whole(sizes, whole, ranks, bucket_bytes);
    layout = std::move(made.layout);
    buckets_ = std::move(made.buckets);
  } else {
    layout = lay_out(sizes, arena_alignment * ranks);
    buckets_ = cut_buckets(layout, sizes, bucket_bytes);
  }
  elements_ = layout.elements;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    places_[i].begin = layout.offsets[i];
    places_[i].end = layout.ends[i];
  }
}

std::vector<std::size_t> ParameterStorage::in_order() const {
  std::vector<std::size_t> order;
  for (const Bucket& bucket : buckets_)
    for (const std::int64_t parameter : bucket.parameters)
      order.push_back(static_cast<std::size_t>(parameter));
  return order;
}

void ParameterStorage::find_own_shards() {
  if (sharing_ == nullptr) {
    own_ = {{.begin = 0, .end = elements_, .offset = 0}};
    return;
  }
  for (const Bucket& bucket : buckets_) {
    const std::int64_t size = (bucket.end - bucket.begin) / sharing_->size();
    const std::int64_t begin = bucket.begin + sharing_->rank() * size;
    own_.push_back(
        {.begin = begin, .end = begin + size, .offset = bucket.begin / sharing_->size()});
  }
}

at::Tensor ParameterStorage::view(const at::Tensor& flat, std::size_t i) const {
  return shaped(flat.narrow(0, places_[i].begin, places_[i].elements), i);
}

at::Tensor ParameterStorage::shaped(const at::Tensor& row, std::size_t i) const {
  return view_as(row, parameters_[i].tensor.sizes(), places_[i].strides);
}

at::Tensor ParameterStorage::range(const at::Tensor& flat, const Shard& shard, std::int64_t begin,
                                   std::int64_t end) const {
  const bool whole = flat.numel() == elements_;
  return flat.narrow(0, whole ? begin : shard.offset + begin - shard.begin, end - begin);
}

void ParameterStorage::write(const at::Tensor& flat, std::size_t i,
                             const at::Tensor& values) const {
  if (flat.numel() == elements_) {
    view(flat, i).copy_(values);
    return;
  }
  const std::int64_t first = places_[i].begin, last = first + places_[i].elements;
  const at::Tensor row = at::empty({last - first}, values.options());  // in the storage's order
  shaped(row, i).copy_(values);
  for (const Shard& shard : own_) {
    const std::int64_t begin = std::max(first, shard.begin), end = std::min(last, shard.end);
    if (begin < end)
      range(flat, shard, begin, end).copy_(row.narrow(0, begin - first, end - begin));
  }
}

void ParameterStorage::set_weights(std::size_t i, const at::Tensor& values) {
  const at::NoGradGuard no_grad;
  write(master_, i, values);
  if (low_precision()) view(working_, i).copy_(values);
}

void ParameterStorage::cast_weights() {
  if (!low_precision()) return;
  const at::NoGradGuard no_grad;
  for (const Shard& shard : own_)
    working_.narrow(0, shard.begin, shard.size())
        .copy_(range(master_, shard, shard.begin, shard.end));
}

void ParameterStorage::point_at(const at::Tensor& flat) {
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < places_.size(); ++i)
    for (at::Tensor& handle : places_[i].handles) handle.set_data(view(flat, i));
}

}  // namespace lockstep
