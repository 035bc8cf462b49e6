// Scores cases of the recipe fewshot: dump-fewshot-scores FOLDER COUNT. Of case I it reads
// FOLDER/I.json ({"pictures", "categories", "truths": [[picture, category, x, y, width, height,
// area, crowd, ignore], …]}) and the detections in FOLDER/I.results.json, writes those again as
// FOLDER/I.written.json, and FOLDER/I.scores: doubles, all of precision, all of recall, and the
// twelve means.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/text.h"
#include "recipes/fewshot/metrics/coco_evaluation.h"
#include "recipes/fewshot/metrics/result_files.h"

namespace {

using namespace lockstep;
using namespace lockstep::fewshot;

std::vector<TrueBox> truths_of(const nlohmann::json& list) {
  std::vector<TrueBox> truths;
  for (const nlohmann::json& box : list)
    truths.push_back({.picture = box[0],
                      .category = box[1],
                      .x = box[2],
                      .y = box[3],
                      .width = box[4],
                      .height = box[5],
                      .area = box[6],
                      .crowd = box[7] != 0,
                      .ignore = box[8] != 0});
  return truths;
}

std::vector<double> numbers_of(const DetectionResult& result) {
  std::vector<double> numbers = result.precision;
  numbers.insert(numbers.end(), result.recall.begin(), result.recall.end());
  const DetectionSummary s = summarize(result);
  numbers.insert(numbers.end(), {s.ap, s.ap50, s.ap75, s.ap_small, s.ap_medium, s.ap_large, s.ar_1,
                                 s.ar_10, s.ar_100, s.ar_small, s.ar_medium, s.ar_large});
  return numbers;
}

void score_case(const std::string& path) {
  const auto input = nlohmann::json::parse(read_file(path + ".json"));
  const KnownIds known{input["pictures"], input["categories"]};
  const std::vector<Detection> detections = read_results_json(path + ".results.json", known);
  write_file_atomic(path + ".written.json", results_json(detections));
  const std::vector<double> numbers =
      numbers_of(evaluate_detections(truths_of(input["truths"]), detections, known.categories));
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
