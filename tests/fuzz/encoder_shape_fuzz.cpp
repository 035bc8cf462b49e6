// config.json of an encoder's folder.
#include "fuzz.h"

#include "core/base/json/json.h"
#include "recipes/dimabsa/options/encoder_shape.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  const nlohmann::json config = parse_json(fuzz::text_of(data, size));
  dimabsa::EncoderShape shape;
  if (!fuzz::accepts([&] { shape = dimabsa::read_shape(config, "config.json"); })) return 0;
  LOCKSTEP_CHECK(shape.width > 0 && shape.heads > 0 && shape.width % shape.heads == 0);
  LOCKSTEP_CHECK(shape.vocabulary > 0 && shape.layers > 0 && shape.feed_forward > 0);
  LOCKSTEP_CHECK(shape.longest() > 0 && shape.first_position >= 0 && shape.segments >= 0);
  LOCKSTEP_CHECK(shape.dropout >= 0 && shape.dropout < 1 && shape.norm_epsilon >= 0);
  if (shape.family == dimabsa::EncoderFamily::deberta_v2)
    LOCKSTEP_CHECK(shape.distances() > 0 &&
                   shape.max_relative_positions > shape.position_buckets / 2 + 1);
  LOCKSTEP_CHECK(dimabsa::parameter_count(shape) > 0);
  return 0;
}
