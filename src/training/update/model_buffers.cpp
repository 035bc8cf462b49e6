#include "training/update/model_buffers.h"

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "training/gradients/not_finite.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <map>
#include <string_view>
#include <utility>

namespace lockstep {
namespace {

// A number of elements. Views begin at its multiples, so that kernels can load several elements at
// once.
constexpr std::int64_t alignment = 64;

std::int64_t padded(std::int64_t elements) {
  return (elements + alignment - 1) / alignment * alignment;
}

}  // namespace

std::string torch_batch_norm(const std::vector<NamedTensor>& buffers) {
  constexpr std::string_view count = ".num_batches_tracked";
  for (const NamedTensor& buffer : buffers) {
    const std::string name = cat(".", buffer.name);
    if (!name.ends_with(count)) continue;
    const std::size_t length = name.size() - count.size();
    return length == 0 ? "the model" : name.substr(1, length - 1);
  }
  return "";
}

ModelBuffers::ModelBuffers(std::vector<NamedTensor> buffers, at::Device device)
    : tensors_(std::move(buffers)) {
  const at::NoGradGuard no_grad;
  std::map<at::ScalarType, std::int64_t> elements;
  for (const NamedTensor& buffer : tensors_)
    elements[buffer.tensor.scalar_type()] += padded(buffer.tensor.numel());
  for (const auto& [dtype, size] : elements) {
    const at::Tensor flat = at::zeros({size}, at::TensorOptions().dtype(dtype).device(device));
    std::int64_t begin = 0;
    for (NamedTensor& buffer : tensors_) {
      at::Tensor& tensor = buffer.tensor;
      if (tensor.scalar_type() != dtype) continue;
      const at::Tensor view = flat.narrow(0, begin, tensor.numel()).view(tensor.sizes());
      view.copy_(tensor);
      begin += padded(tensor.numel());
      tensor.set_data(view);
    }
    const at::Tensor infinite = flat.isinf();
    flats_.push_back({.values = flat,
                      .remembered = flat.clone(),
                      .infinite = infinite.any().item<bool>() ? infinite : at::Tensor()});
  }
}

void ModelBuffers::remember() {
  const at::NoGradGuard no_grad;
  for (Flat& flat : flats_) flat.remembered.copy_(flat.values);
}

void ModelBuffers::undo(const at::Tensor& skip) {
  if (flats_.empty()) return;
  const at::NoGradGuard no_grad;
  const at::Tensor skipped = skip.gt(0);
  for (Flat& flat : flats_) at::where_out(flat.values, skipped, flat.remembered, flat.values);
}

void ModelBuffers::undo() {
  const at::NoGradGuard no_grad;
  for (Flat& flat : flats_) flat.values.copy_(flat.remembered);
}

void share_buffer(const at::Tensor& values, ProcessGroup& group, bool mean) {
  if (!mean || !values.is_floating_point()) return group.broadcast(values, 0);
  group.all_reduce(values)->wait();
  values.div_(group.size());
}

void ModelBuffers::share(ProcessGroup& group, bool mean) {
  for (const Flat& flat : flats_) share_buffer(flat.values, group, mean);
}

std::vector<const ModelBuffers::Flat*> ModelBuffers::floating() const {
  std::vector<const Flat*> found;
  for (const Flat& flat : flats_)
    if (flat.values.is_floating_point()) found.push_back(&flat);
  return found;
}

std::vector<at::Tensor> ModelBuffers::copies() const {
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> copies;
  for (const Flat* flat : floating()) copies.push_back(flat->values.clone());
  return copies;
}

std::vector<NamedTensor> ModelBuffers::named(const std::vector<at::Tensor>& copies) const {
  const at::NoGradGuard no_grad;
  std::vector<NamedTensor> views;
  for (const NamedTensor& buffer : tensors_)
    for (const at::Tensor& copy : copies) {
      if (copy.scalar_type() != buffer.tensor.scalar_type()) continue;
      const at::Tensor& tensor = buffer.tensor;  // a view at the same place of a flat tensor
      views.push_back(
          {buffer.name,
           copy.narrow(0, tensor.storage_offset(), tensor.numel()).view(tensor.sizes())});
    }
  return views;
}

void ModelBuffers::follow(const std::vector<at::Tensor>& copies, const at::Tensor& share) const {
  const at::NoGradGuard no_grad;
  const auto flats = floating();
  for (std::size_t i = 0; i < flats.size(); ++i) {
    at::Tensor copy = copies[i];
    copy.lerp_(flats[i]->values, share.to(copy.scalar_type()));
    // lerp between equal infinities gives NaN, so infinite elements are copied.
    if (flats[i]->infinite.defined())
      at::where_out(copy, flats[i]->infinite, flats[i]->values, copy);
  }
}

void ModelBuffers::show(const std::vector<at::Tensor>& copies) {
  remember();
  const auto flats = floating();
  for (std::size_t i = 0; i < flats.size(); ++i) at::Tensor(flats[i]->values).copy_(copies[i]);
}

void ModelBuffers::show_own() { undo(); }

std::string ModelBuffers::not_finite() const {
  for (const Flat& flat : flats_) {
    const at::Tensor values =
        flat.infinite.defined() ? flat.values.masked_fill(flat.infinite, 0) : flat.values;
    if (is_finite(values)) continue;
    for (const NamedTensor& buffer : tensors_) {
      const at::Tensor& tensor = buffer.tensor;  // a view at the same place of flat.values
      if (tensor.scalar_type() != values.scalar_type()) continue;
      if (!is_finite(values.narrow(0, tensor.storage_offset(), tensor.numel()))) return buffer.name;
    }
  }
  return {};
}

void ModelBuffers::require_in_place(const std::vector<NamedTensor>& now) const {
  for (std::size_t i = 0; i < tensors_.size() && i < now.size(); ++i)
    if (now[i].tensor.defined() && !now[i].tensor.is_alias_of(tensors_[i].tensor))
      throw Error(cat("the model has put another tensor in the place of its buffer ", now[i].name),
                  "change buffers in place, as with copy_ or add_, so that they are saved and all "
                  "ranks evaluate with the same");
}

}  // namespace lockstep
