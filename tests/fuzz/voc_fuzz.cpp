// Pascal VOC's xml of the recipe fewshot. Accepted objects have names and finite corners.
#include "fuzz.h"

#include <cmath>

#include "recipes/fewshot/annotations/fit_box.h"
#include "recipes/fewshot/annotations/voc.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  using namespace lockstep::fewshot;
  VocAnnotation file;
  if (!fuzz::accepts([&] { file = parse_voc(fuzz::text_of(data, size), "input"); })) return 0;
  LOCKSTEP_CHECK(file.width >= 0 && file.width <= 65'535 && file.height >= 0 &&
                 file.height <= 65'535);
  const Picture picture{.path = file.file_name, .width = 500, .height = 375};
  Repairs repairs;
  for (const VocObject& object : file.objects) {
    LOCKSTEP_CHECK(!object.name.empty());
    LOCKSTEP_CHECK(std::isfinite(object.x) && std::isfinite(object.y));
    const auto box = fit_box({.x = object.x, .y = object.y, .w = object.w, .h = object.h},
                             Box{.difficult = object.difficult}, picture, repairs);
    if (!box) continue;
    LOCKSTEP_CHECK(box->x >= 0 && box->w > 0 && box->x + box->w <= 500.001f);
    LOCKSTEP_CHECK(box->y >= 0 && box->h > 0 && box->y + box->h <= 375.001f);
  }
  return 0;
}
