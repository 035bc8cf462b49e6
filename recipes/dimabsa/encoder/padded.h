// Converts concatenated texts to rows of equal length, and back. Attention with plain ATen
// operators needs such rows.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lockstep::dimabsa {

// Texts of different lengths, and where their tokens lie in rows of equal length. The host never
// reads the offsets, so all functions can be captured in a CUDA graph.
class PaddedTexts {
 public:
  // offsets: i64 [S + 1], as EncoderInput::offsets. longest: no text has more tokens than this.
  // items: the number of tokens of all texts together, N.
  PaddedTexts(const at::Tensor& offsets, std::int64_t items, std::int64_t longest);

  const at::Tensor& places() const { return places_; }  // i64 [N]: index of each token in its text
  // bool [S, longest]: true where there is a token, false where there is padding
  const at::Tensor& seen() const { return seen_; }
  // Converts [N, ...] to [S, longest, ...]. Padding is 0.
  at::Tensor pad(const at::Tensor& ragged) const;
  at::Tensor unpad(const at::Tensor& padded) const;  // the inverse of pad()

 private:
  std::int64_t texts_, longest_;
  at::Tensor places_, slots_, seen_;
};

// Returns i64 [N]: the index of each token in its text. The arguments are those of PaddedTexts.
at::Tensor places_in_texts(const at::Tensor& offsets, std::int64_t items);

}  // namespace lockstep::dimabsa
