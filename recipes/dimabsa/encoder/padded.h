// Converts concatenated texts to rows of equal length, and back. Some operations are simple only on
// such rows.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lockstep::dimabsa {

// The host never reads the offsets, so all functions can be captured in a CUDA graph.
class PaddedTexts {
 public:
  // offsets: i64 [S + 1], as EncoderInput::offsets. longest: an upper limit for the tokens of a
  // text. items: the tokens of all texts together, N.
  PaddedTexts(const at::Tensor& offsets, std::int64_t items, std::int64_t longest);

  const at::Tensor& places() const { return places_; }  // i64 [N]: place of each token in its text
  // bool [S, longest]: whether there is a token, and not padding
  const at::Tensor& seen() const { return seen_; }
  // Converts [N, ...] to [S, longest, ...], padded with 0.
  at::Tensor pad(const at::Tensor& ragged) const;
  at::Tensor unpad(const at::Tensor& padded) const;  // the inverse

 private:
  std::int64_t texts_, longest_;
  at::Tensor places_, slots_, seen_;
};

// Returns i64 [N]: the place of each token in its text.
at::Tensor places_in_texts(const at::Tensor& offsets, std::int64_t items);

}  // namespace lockstep::dimabsa
