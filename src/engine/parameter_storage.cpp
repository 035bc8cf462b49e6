// The layout of the parameters, the views into it, and how shards of ranks come together.
#include "engine/parameter_storage.h"

#include "engine/layout.h"
#include "engine/process_group.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <memory>
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
    sizes_.push_back(one.parameter.tensor.numel());
    strides_.push_back(dense_strides(one.parameter.tensor));
    parameters_.push_back(std::move(one.parameter));
    handles_.push_back(std::move(one.handles));
  }
  lay_out_parameters(bucket_bytes, optimizer);
  find_own_pieces();
  const at::NoGradGuard no_grad;
  const auto flat = [&](std::int64_t elements, at::ScalarType dtype) {
    return at::zeros({elements}, at::TensorOptions().dtype(dtype).device(device));
  };
  const bool low = compute_dtype != at::kFloat;
  master_ = flat(low ? own_elements() : layout_.elements, at::kFloat);
  if (low) working_ = flat(layout_.elements, compute_dtype);
  for (std::size_t i = 0; i < parameters_.size(); ++i) set_weights(i, parameters_[i].tensor);
  point_at(weights());
}

void ParameterStorage::lay_out_parameters(std::int64_t bucket_bytes, OptimizerKind optimizer) {
  const std::int64_t ranks = sharing_ != nullptr ? sharing_->size() : 1;
  std::vector<bool> whole;
  for (const Granularity one :
       granularities(optimizer, optimized_parameters(parameters_, aliases_)))
    whole.push_back(one == Granularity::matrix);
  if (ranks > 1 && std::find(whole.begin(), whole.end(), true) != whole.end()) {
    BucketedLayout made = lay_out_whole(sizes_, whole, ranks, bucket_bytes);
    layout_ = std::move(made.layout);
    buckets_ = std::move(made.buckets);
    return;
  }
  layout_ = lay_out(sizes_, arena_alignment * ranks);
  buckets_ = cut_buckets(layout_, sizes_, bucket_bytes);
}

std::vector<std::size_t> ParameterStorage::in_order() const {
  std::vector<std::size_t> order;
  for (const Bucket& bucket : buckets_)
    for (const std::int64_t parameter : bucket.parameters)
      order.push_back(static_cast<std::size_t>(parameter));
  return order;
}

std::int64_t ParameterStorage::end_of(std::size_t i) const { return layout_.ends[i]; }

at::Tensor ParameterStorage::view(const at::Tensor& flat, std::size_t i) const {
  return shaped(flat.narrow(0, layout_.offsets[i], sizes_[i]), i);
}

at::Tensor ParameterStorage::shaped(const at::Tensor& row, std::size_t i) const {
  return view_as(row, parameters_[i].tensor.sizes(), strides_[i]);
}

void ParameterStorage::find_own_pieces() {
  if (sharing_ == nullptr) {
    own_ = {{.begin = 0, .end = layout_.elements, .at = 0}};
    return;
  }
  for (const Bucket& bucket : buckets_) {
    const std::int64_t size = (bucket.end - bucket.begin) / sharing_->size();
    const std::int64_t begin = bucket.begin + sharing_->rank() * size;
    own_.push_back({.begin = begin, .end = begin + size, .at = bucket.begin / sharing_->size()});
  }
}

at::Tensor ParameterStorage::range(const at::Tensor& flat, const Piece& piece, std::int64_t begin,
                                   std::int64_t end) const {
  const bool whole = flat.numel() == layout_.elements;
  return flat.narrow(0, whole ? begin : piece.at + begin - piece.begin, end - begin);
}

void ParameterStorage::fill(const at::Tensor& flat, std::size_t i, const at::Tensor& values) const {
  if (flat.numel() == layout_.elements) {
    view(flat, i).copy_(values);
    return;
  }
  const std::int64_t first = layout_.offsets[i], last = first + sizes_[i];
  const at::Tensor row = at::empty({sizes_[i]}, values.options());  // in the order of the storage
  shaped(row, i).copy_(values);
  for (const Piece& piece : own_) {
    const std::int64_t begin = std::max(first, piece.begin), end = std::min(last, piece.end);
    if (begin < end)
      range(flat, piece, begin, end).copy_(row.narrow(0, begin - first, end - begin));
  }
}

void ParameterStorage::set_weights(std::size_t i, const at::Tensor& values) {
  const at::NoGradGuard no_grad;
  fill(master_, i, values);
  if (low_precision()) view(working_, i).copy_(values);
}

void ParameterStorage::refresh_working() {
  if (!low_precision()) return;
  const at::NoGradGuard no_grad;
  for (const Piece& piece : own_)
    working_.narrow(0, piece.begin, piece.size())
        .copy_(range(master_, piece, piece.begin, piece.end));
}

void ParameterStorage::gather(const at::Tensor& flat) {
  if (sharing_ == nullptr) return;
  std::vector<std::unique_ptr<Pending>> pending;
  for (const Bucket& bucket : buckets_)
    pending.push_back(
        sharing_->gather_pieces(flat.narrow(0, bucket.begin, bucket.end - bucket.begin)));
  for (const auto& bucket : pending) bucket->wait();
}

void ParameterStorage::gather_weights() {
  const at::NoGradGuard no_grad;
  gather(weights());
}

void ParameterStorage::point_at(const at::Tensor& flat) {
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    for (at::Tensor& handle : handles_[i]) handle.set_data(view(flat, i));
}

void ParameterStorage::show(const at::Tensor& flat) {
  const at::NoGradGuard no_grad;
  if (!low_precision() && sharing_ == nullptr) return point_at(flat);
  const at::Tensor shown = low_precision() ? working_ : at::empty_like(master_);
  for (const Piece& piece : own_)
    shown.narrow(0, piece.begin, piece.size()).copy_(range(flat, piece, piece.begin, piece.end));
  gather(shown);
  if (!low_precision()) point_at(shown);
}

void ParameterStorage::show_weights() {
  const at::NoGradGuard no_grad;
  if (!low_precision()) return point_at(master_);
  refresh_working();
  gather_weights();
}

}  // namespace lockstep
