// COCO json of the recipe fewshot. Accepted boxes must lie within their pictures and have a known
// category. Writing and reading them again must keep categories and the number of boxes.
#include "fuzz.h"

#include <cmath>
#include <set>

#include "recipes/fewshot/annotations/coco.h"
#include "recipes/fewshot/annotations/coco_scan.h"

namespace lockstep::fewshot {
namespace {

void check(const DetectionData& data) {
  std::set<std::int64_t> ids;
  std::set<std::string> names;
  for (const Picture& picture : data.pictures) {
    LOCKSTEP_CHECK(ids.insert(picture.id).second);
    LOCKSTEP_CHECK(picture.width >= 1 && picture.height >= 1);
  }
  for (const Category& category : data.categories)
    LOCKSTEP_CHECK(!category.name.empty() && names.insert(category.name).second);
  ids.clear();
  std::size_t seen = 0;
  for (int i = 0; i < static_cast<int>(data.pictures.size()); ++i)
    for (const Box& box : data.boxes_of(i)) {
      const Picture& picture = data.pictures[static_cast<std::size_t>(i)];
      LOCKSTEP_CHECK(box.picture == i && ids.insert(box.id).second);
      LOCKSTEP_CHECK(box.category >= 0 &&
                     static_cast<std::size_t>(box.category) < data.categories.size());
      LOCKSTEP_CHECK(box.x >= 0 && box.y >= 0 && box.w > 0 && box.h > 0 && box.area > 0);
      LOCKSTEP_CHECK(box.x + box.w <= static_cast<float>(picture.width) * 1.000001f);
      LOCKSTEP_CHECK(box.y + box.h <= static_cast<float>(picture.height) * 1.000001f);
      ++seen;
    }
  LOCKSTEP_CHECK(seen == data.boxes.size());
  (void)data.warnings();
}

}  // namespace
}  // namespace lockstep::fewshot

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  using namespace lockstep::fewshot;
  // Scores take more, and never less.
  const bool scored =
      fuzz::accepts([&] { scan_coco(fuzz::text_of(data, size), "input", CocoUse::scores); });
  DetectionData read;
  if (!fuzz::accepts([&] { read = parse_coco(fuzz::text_of(data, size), "input", "folder"); }))
    return 0;
  LOCKSTEP_CHECK(scored);
  check(read);
  const std::string written = coco_json(read, "fuzz");
  DetectionData again;
  // File names may meet when folders are left out.
  if (!fuzz::accepts([&] { again = parse_coco(written, "written", "folder"); })) return 0;
  LOCKSTEP_CHECK(again.categories == read.categories);
  LOCKSTEP_CHECK(again.boxes.size() == read.boxes.size());
  return 0;
}
