// Converts texts that lie one behind the other into rows of one length and back, for operations
// that are simple only on such rows.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lockstep::dimabsa {

// The host never reads the offsets, so all of this also works inside a CUDA graph.
class PaddedTexts {
 public:
  // offsets: i64 [S + 1], for texts of at most `longest` tokens each and `items` tokens together.
  PaddedTexts(const at::Tensor& offsets, std::int64_t items, std::int64_t longest);

  const at::Tensor& places() const { return places_; }  // i64 [N]: each token's place in its text
  // bool [S, longest]: whether a token is there
  const at::Tensor& seen() const { return seen_; }
  // [N, ...] to [S, longest, ...], padded with 0
  at::Tensor pad(const at::Tensor& ragged) const;
  at::Tensor unpad(const at::Tensor& padded) const;  // the inverse

 private:
  std::int64_t texts_, longest_;
  at::Tensor places_, slots_, seen_;
};

// i64 [N]: each token's place in its text.
at::Tensor places_in_texts(const at::Tensor& offsets, std::int64_t items);

}  // namespace lockstep::dimabsa
