#include "recipes/fewshot/prepare/score.h"

#include <filesystem>
#include <map>
#include <set>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "recipes/fewshot/annotations/file_names.h"
#include "recipes/fewshot/metrics/coco_evaluation.h"
#include "recipes/fewshot/metrics/result_files.h"
#include "recipes/fewshot/prepare/named_data.h"
#include "recipes/fewshot/sets/truth.h"

namespace lockstep::fewshot {
namespace {

namespace fs = std::filesystem;

GroundTruth named_truth(const FewshotOptions& options) {
  if (!options.scoring.truth.empty())
    return read_truth(name_detection_files(options.scoring.truth, {}));
  if (!options.made())
    return read_valid_truth(named_data(options), options.data.valid_share,
                            static_cast<std::uint64_t>(options.data.split_seed));
  if (!options.data.valid.empty())
    return read_truth(name_detection_files(options.data.valid, options.data.valid_pictures));
  throw Error("nothing says what the detections are compared with",
              "give truth=ANNOTATIONS, or data.path=DIR for its validation set");
}

// Leaves out categories without boxes if another category has the same name.
std::vector<NamedClass> named_classes_of(const GroundTruth& truth) {
  std::set<std::int64_t> with_boxes;
  for (const TrueBox& box : truth.boxes) with_boxes.insert(box.category);
  std::map<std::string, int> counts;
  for (const Category& category : truth.categories) ++counts[category.name];
  std::vector<NamedClass> classes;
  for (const Category& category : truth.categories)
    if (counts[category.name] == 1 || with_boxes.contains(category.id))
      classes.push_back({.category = category.id, .name = category.name});
  return classes;
}

ReadDetections read_results(const fs::path& file, const KnownIds& known) {
  return file.extension() == ".csv" ? read_results_csv(file, known)
                                    : read_results_json(file, known);
}

// A warning about pictures with boxes and without detections, or "". A detector rarely finds
// nothing at all, so these pictures may never have been predicted.
std::string without_detections(const GroundTruth& truth, const std::vector<Detection>& detections) {
  std::set<std::int64_t> found;
  for (const Detection& detection : detections) found.insert(detection.picture);
  std::set<std::int64_t> missed;
  for (const TrueBox& box : truth.boxes)
    if (!found.contains(box.picture)) missed.insert(box.picture);
  if (missed.empty()) return "";
  return cat(missed.size(), " of ", truth.pictures.size(),
             " pictures have boxes and no prediction, and count as missed: were they predicted? "
             "lockstep predict takes the first 20 of the validation set, and all with images=DIR");
}

// Adds "ap50 of NAME". If several classes have that name, the id follows.
void add_class_scores(const DetectionResult& result, const std::vector<NamedClass>& classes,
                      std::vector<Score>& scores) {
  std::map<std::string, int> counts;
  for (const NamedClass& one : classes) ++counts[one.name];
  for (const NamedClass& one : classes) {
    const std::vector<std::int64_t> alone{one.category};
    const DetectionSummary of_class = summarize(result, alone);
    if (of_class.ap50 == no_score) continue;
    std::string name = one.name.empty() ? cat("category ", one.category) : one.name;
    if (counts[one.name] > 1 && !one.name.empty()) name += cat(" (id ", one.category, ")");
    scores.push_back({.name = cat("ap50 of ", name), .value = of_class.ap50});
  }
}

}  // namespace

std::vector<Score> score_files(const FewshotOptions& options, const ScoreContext& context) {
  const GroundTruth truth = named_truth(options);
  const auto say = [&](const std::string& line) {
    if (context.say) context.say(line);
  };
  for (const std::string& note : truth.notes) say(note);
  fs::path file = context.predictions;
  if (is_folder(file)) file /= "detections.json";
  const KnownIds known{.pictures = truth.pictures, .classes = named_classes_of(truth)};
  const ReadDetections read = read_results(file, known);
  for (const std::string& note : read.notes) say(note);
  if (read.of_other_classes > 0)
    say(cat(read.of_other_classes, " of ", read.of_other_classes + std::ssize(read.detections),
            " detections are of classes that ", truth.name,
            " does not have, and are skipped (first: ", read.first_other_class, ")"));
  say(cat(read.detections.size(), " detections in ", truth.pictures.size(), " pictures of ",
          truth.name));
  if (const std::string note = without_detections(truth, read.detections); !note.empty()) say(note);
  const DetectionResult result =
      evaluate_detections(truth.boxes, read.detections, truth.category_ids());
  std::vector<Score> scores = score_list(summarize(result));
  add_class_scores(result, known.classes, scores);
  return scores;
}

}  // namespace lockstep::fewshot
