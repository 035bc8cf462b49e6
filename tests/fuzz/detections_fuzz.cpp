// Files of detections of the recipe fewshot: COCO's results json and CSV. Accepted detections have
// known pictures and classes. They are the same after writing and reading them again, and they can
// be scored and drawn.
#include "fuzz.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "recipes/fewshot/metrics/coco_evaluation.h"
#include "recipes/fewshot/metrics/detection_picture.h"
#include "recipes/fewshot/metrics/result_files.h"

namespace lockstep::fewshot {
namespace {

const KnownIds known{{{1, "a.jpg"}, {2, "b.jpg"}, {3, "c, d.jpg"}}, {{1, "rook"}, {7, "king"}}};
const std::vector<std::int64_t> categories{1, 7};

void check_boxes(const std::vector<Detection>& detections) {
  for (const Detection& one : detections) {
    LOCKSTEP_CHECK(one.picture >= 1 && one.picture <= 3);
    LOCKSTEP_CHECK(one.category == 1 || one.category == 7);
    LOCKSTEP_CHECK(std::isfinite(one.x) && std::isfinite(one.y) && std::isfinite(one.score));
    LOCKSTEP_CHECK(one.width >= 0 && one.height >= 0);
    LOCKSTEP_CHECK(std::isfinite(one.width) && std::isfinite(one.height));
  }
  const std::vector<TrueBox> truths{
      {.picture = 1, .category = 7, .x = 1, .y = 2, .width = 3, .height = 4, .area = 12}};
  const DetectionSummary summary = summarize(evaluate_detections(truths, detections, categories));
  LOCKSTEP_CHECK(summary.ap >= 0 && summary.ap <= 1);
  const Image picture({.height = 12, .width = 16, .channels = 3});
  const DrawDetections how{
      .classes = known.classes, .truths = truths, .most = 10, .shorter_side = 24};
  LOCKSTEP_CHECK(draw_detections(picture, detections, how).height() == 24);
}

void check_detections(const std::vector<Detection>& detections) {
  const auto again = parse_results_json(results_json(detections), "written", known).detections;
  LOCKSTEP_CHECK(std::equal(again.begin(), again.end(), detections.begin(), detections.end(),
                            [](const Detection& a, const Detection& b) {
                              return a.picture == b.picture && a.category == b.category &&
                                     a.x == b.x && a.y == b.y && a.width == b.width &&
                                     a.height == b.height && a.score == b.score;
                            }));
}

}  // namespace
}  // namespace lockstep::fewshot

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  using namespace lockstep::fewshot;
  const std::string_view text = fuzz::text_of(data, size);
  std::vector<Detection> detections;
  if (fuzz::accepts([&] { detections = parse_results_json(text, "input", known).detections; })) {
    check_boxes(detections);
    check_detections(detections);
  }
  if (fuzz::accepts([&] { detections = parse_results_csv(text, "input", known).detections; }))
    check_boxes(detections);
  return 0;
}
