// Caches keys and values of previous tokens, so that a new token needs only one position.
#include "recipes/textgen/model/generation/kv_cache.h"

#include "core/base/check.h"

#include <ATen/ops/empty.h>

namespace lockstep::textgen {

KvCache::KvCache(std::int64_t layers, std::int64_t rows, std::int64_t heads, std::int64_t context,
                 std::int64_t head_width, at::Device device, at::ScalarType dtype)
    : context_(context) {
  const auto options = at::TensorOptions().device(device).dtype(dtype);
  for (std::int64_t i = 0; i < layers; ++i)
    layers_.push_back({at::empty({rows, heads, context, head_width}, options),
                       at::empty({rows, heads, context, head_width}, options)});
}

KvCache::View KvCache::append(std::int64_t layer, const at::Tensor& key, const at::Tensor& value) {
  const std::int64_t t = key.size(2);
  LOCKSTEP_CHECK(length_ + t <= context_);
  View& held = layers_.at(static_cast<std::size_t>(layer));
  held.key.narrow(2, length_, t).copy_(key);
  held.value.narrow(2, length_, t).copy_(value);
  return {held.key.narrow(2, 0, length_ + t), held.value.narrow(2, 0, length_ + t)};
}

void KvCache::advance(std::int64_t t) {
  LOCKSTEP_CHECK(length_ + t <= context_);
  length_ += t;
}

}  // namespace lockstep::textgen
