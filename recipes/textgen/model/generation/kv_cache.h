// Keeps the keys and values of tokens that a model has read. So a forward pass for the next token
// covers only one position.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace lockstep::textgen {

// Holds up to `context` positions of `rows` sequences of equal length, for every layer.
class KvCache {
 public:
  KvCache(std::int64_t layers, std::int64_t rows, std::int64_t heads, std::int64_t context,
          std::int64_t head_width, at::Device device, at::ScalarType dtype);

  std::int64_t length() const { return length_; }  // number of stored positions
  std::int64_t context() const { return context_; }
  void clear() { length_ = 0; }

  // Stores the keys and values of t new positions in one layer, after the stored positions. key,
  // value: [rows,heads,t,head_width]. Returns views of all keys and values of the layer:
  // [rows,heads,length() + t,head_width].
  struct View {
    at::Tensor key, value;
  };
  View append(std::int64_t layer, const at::Tensor& key, const at::Tensor& value);
  // Adds t to length(). Call it after every layer has appended its t positions.
  void advance(std::int64_t t);

 private:
  std::int64_t context_, length_ = 0;
  std::vector<View> layers_;
};

}  // namespace lockstep::textgen
