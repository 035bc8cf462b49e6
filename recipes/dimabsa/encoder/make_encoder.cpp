// Creates the encoder class that fits a shape.
#include "recipes/dimabsa/encoder/bert.h"
#include "recipes/dimabsa/encoder/deberta.h"
#include "recipes/dimabsa/encoder/encoder.h"

namespace lockstep::dimabsa {

std::unique_ptr<Encoder> make_encoder(const EncoderShape& shape, std::uint64_t seed) {
  if (shape.family == EncoderFamily::deberta_v2) return std::make_unique<Deberta>(shape, seed);
  return std::make_unique<Bert>(shape, seed);
}

}  // namespace lockstep::dimabsa
