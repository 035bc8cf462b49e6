// Scores cases of the recipe fewshot: dump-fewshot-scores FOLDER COUNT. Of case I it reads COCO's
// jsons FOLDER/I.json and FOLDER/I.results.json, writes the detections that count again as
// FOLDER/I.written.json, and FOLDER/I.scores: doubles, all of precision, all of recall, and the
// twelve means.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "recipes/fewshot/metrics/coco_evaluation.h"
#include "recipes/fewshot/metrics/result_files.h"
#include "recipes/fewshot/sets/truth.h"

namespace {

using namespace lockstep;
using namespace lockstep::fewshot;

std::vector<double> numbers_of(const DetectionResult& result) {
  std::vector<double> numbers = result.precision;
  numbers.insert(numbers.end(), result.recall.begin(), result.recall.end());
  const DetectionSummary s = summarize(result);
  numbers.insert(numbers.end(), {s.ap, s.ap50, s.ap75, s.ap_small, s.ap_medium, s.ap_large, s.ar_1,
                                 s.ar_10, s.ar_100, s.ar_small, s.ar_medium, s.ar_large});
  return numbers;
}

void score_case(const std::string& path) {
  const GroundTruth truth = read_truth(CocoFiles{.json = path + ".json", .folders = {}});
  KnownIds known{.pictures = truth.pictures, .classes = {}};
  for (const Category& category : truth.categories)
    known.classes.push_back({.category = category.id, .name = category.name});
  const ReadDetections read = read_results_json(path + ".results.json", known);
  write_file_atomic(path + ".written.json", results_json(read.detections));
  const std::vector<double> numbers =
      numbers_of(evaluate_detections(truth.boxes, read.detections, truth.category_ids()));
  write_file_atomic(path + ".scores", {reinterpret_cast<const char*>(numbers.data()),
                                       numbers.size() * sizeof(double)});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  try {
    for (int i = 0; i < std::atoi(argv[2]); ++i) score_case(cat(argv[1], "/", i));
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
