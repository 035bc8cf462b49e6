// Texts one behind the other, and the same texts as rows of one length, for operations that are
// simple only on such rows.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lockstep::dimabsa {

// The host never reads the offsets, so that all of this also works inside a CUDA graph.
class PaddedTexts {
 public:
  // offsets: i64 [S + 1], of texts of at most `longest` tokens each, `items` tokens together.
  PaddedTexts(const at::Tensor& offsets, std::int64_t items, std::int64_t longest);

  const at::Tensor& places() const { return places_; }  // i64 [N]: of a token in its text
  const at::Tensor& seen() const { return seen_; }      // bool [S, longest]: there is a token
  at::Tensor pad(const at::Tensor& ragged) const;       // [N, ...] to [S, longest, ...], 0 else
  at::Tensor unpad(const at::Tensor& padded) const;     // the inverse

 private:
  std::int64_t texts_, longest_;
  at::Tensor places_, slots_, seen_;
};

// i64 [N]: a token's place in its text.
at::Tensor places_in_texts(const at::Tensor& offsets, std::int64_t items);

}  // namespace lockstep::dimabsa
