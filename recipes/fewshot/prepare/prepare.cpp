// Turns options into a record of the data. The worker reads the data by this record.
#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/json/json.h"
#include "core/base/text/text.h"
#include "planning/words.h"
#include "recipes/fewshot/episodes/class_pictures.h"
#include "recipes/fewshot/episodes/episodes.h"
#include "recipes/fewshot/prepare/named_data.h"
#include "recipes/fewshot/prepare/score.h"
#include "recipes/fewshot/prepare/supports.h"
#include "recipes/fewshot/sets/evaluation_plan.h"
#include "recipes/fewshot/sets/sets.h"
#include "recipes/fewshot/shapes/made_shapes.h"

namespace lockstep::fewshot {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Say = std::function<void(const std::string&)>;

json extra_of_run(const fs::path& run_dir) {
  std::error_code ignored;
  if (run_dir.empty() || !fs::exists(run_dir / "run.json", ignored)) return nullptr;
  const json record = parse_json(read_file(run_dir / "run.json"));
  if (!record.is_object() || !record.contains("extra") || !record["extra"].is_object())
    return nullptr;
  return record["extra"];
}

FoundData found_data(const FewshotOptions& options, const PrepareContext& context, const Say& say) {
  if (!options.made()) return named_data(options);
  say("no data.path is given: pictures of shapes are drawn");
  return find_detection_data(made_shapes(context.cache_dir, say));
}

std::vector<std::string> names_of(const DetectionData& data, const std::vector<int>& classes) {
  std::vector<std::string> names;
  for (const int index : classes)
    names.push_back(data.categories[static_cast<std::size_t>(index)].name);
  return names;
}

// Resolves "a,b" and "@FILE" in an option that is a list.
std::vector<std::string> listed(const std::vector<std::string>& list) {
  return class_names(join(list, ","));
}

ClassSplit split_of(const FewshotOptions& options, const DetectionData& data) {
  std::vector<std::string> base = listed(options.data.base), novel = listed(options.data.novel);
  if (base.empty() && novel.empty()) {
    if (options.made()) {
      novel = made_novel_classes();
    } else if (options.data.novel_share > 0) {
      return split_by_share(data, options.data.novel_share,
                            static_cast<std::uint64_t>(options.data.split_seed));
    }
  }
  return split_by_names(data, base, novel);
}

// Splits classes for a run whose classes come from another run. Base classes of that run that are
// in this data stay base. All others are novel.
ClassSplit split_of_run(const SetsRecord& before, const DetectionData& data) {
  ClassSplit split;
  const ClassPictures pictures(data);
  for (int c = 0; c < std::ssize(data.categories); ++c) {
    if (pictures.of(c).empty()) continue;
    const std::string& name = data.categories[static_cast<std::size_t>(c)].name;
    const bool is_base =
        std::find(before.base.begin(), before.base.end(), name) != before.base.end();
    (is_base ? split.base : split.novel).push_back(c);
  }
  return split;
}

PictureRule looking(const FewshotOptions& options) {
  return {.exif = options.data.exif, .look = true};
}

SetsRecord with_files(SetsRecord record, const FoundData& files) {
  record.files = files;
  record.has_files = true;
  return record;
}

bool same_files(const SetsRecord& record, const FoundData& found) {
  return to_json(record) == to_json(with_files(record, found));
}

// Older versions ignored data.train_pictures and data.valid_pictures if data.path was given.
bool is_older(const SetsRecord& record) { return record.has_files && record.contents.empty(); }
bool names_no_files(const FewshotOptions& options) {
  const auto keys = {"data.path", "data.train", "data.train_pictures", "data.valid",
                     "data.valid_pictures"};
  return !options.made() && std::none_of(keys.begin(), keys.end(), [&](const char* key) {
    return options.table.is_asked_for(key);
  });
}

// Reports which requested evaluations are left out.
void say_what_is_left_out(const std::vector<EvaluationGroup>& groups, const FewshotOptions& options,
                          const Sets& sets, const Say& say) {
  if (groups.empty())
    say("neither base nor novel classes have pictures enough for an evaluation: there is none");
  for (const auto& [name, classes] :
       {std::pair("base", &sets.split.base), std::pair("novel", &sets.split.novel)})
    for (const std::int64_t shots : options.shots())
      if (!groups.empty() && !classes->empty() &&
          std::none_of(groups.begin(), groups.end(),
                       [&, &name = name](const EvaluationGroup& group) {
                         return group.name == name && group.shots == shots;
                       }))
        say(cat("no ", name, " class has ", count_of(shots, "picture"),
                " to take examples from and one to find it in: it is not evaluated with ",
                count_of(shots, "shot")));
}

double passes_over(const std::vector<EvaluationGroup>& groups, const FewshotOptions& options) {
  double passes = 0;
  for (const EvaluationGroup& group : groups)
    passes +=
        static_cast<double>(options.evaluate.episodes) * options.passes_of_evaluation(group.shots);
  return passes;
}

// Whether all classes of the data have enough pictures for the episodes of training.
bool all_are_enough(const Sets& sets, const FewshotOptions& options) try {
  const std::vector<int> all = used_classes(sets.split, ClassUse::all);
  DetectionData train = sets.train;
  keep_shots(train, all, options.data.shots, static_cast<std::uint64_t>(options.data.split_seed));
  const Episodes episodes(ClassPictures(train), train.categories, all, training_shape(options), 1);
  return true;
} catch (const Error&) {
  return false;
}

// Returns the number of classes in an episode of training. Throws Error if the data have too few.
// The error also says how many classes are held out, because users forget the split.
int check_episodes(const Sets& sets, const std::vector<int>& used, const FewshotOptions& options,
                   const Say& say) try {
  const Episodes episodes(ClassPictures(sets.train), sets.train.categories, used,
                          training_shape(options), 1);
  if (const std::string note = episodes.note(); !note.empty()) say(note);
  return episodes.shape().n_way;
} catch (const Error& error) {
  const std::size_t all = sets.split.base.size() + sets.split.novel.size();
  if (options.data.classes != ClassUse::base || used.size() == all) throw;
  const bool is_share = options.data.base.empty() && options.data.novel.empty() && !options.made();
  throw Error(cat(error.what(), "; ", all - used.size(), " of ", all,
                  " classes are held out as novel", is_share ? " (data.novel_share)" : ""),
              all_are_enough(sets, options)
                  ? cat(error.hint(), "; ", is_share ? "data.novel_share=0" : "data.classes=all",
                        " trains on all classes")
                  : error.hint());
}

Prepared prepared_from(const SetsRecord& record, Sets sets, const FewshotOptions& options,
                       Purpose purpose, const Say& say) {
  const std::vector<int> used = used_classes(sets.split, options.data.classes);
  const bool trains = purpose != Purpose::evaluate;
  if (used.empty() && trains)
    throw Error(cat("data.classes is ", options.table.get("data.classes"),
                    ", but there are no such classes"),
                "name some with data.novel or data.base, or give data.novel_share");
  const std::int64_t most = most_boxes(sets.train);
  keep_shots(sets.train, used, options.data.shots,
             static_cast<std::uint64_t>(options.data.split_seed));
  say(cat(sets.train.pictures.size(), " pictures to train on, ", sets.valid.pictures.size(),
          " to validate on", record.files.valid ? "" : ", held out by data.valid_share",
          "; base classes: ", join(record.base, ", "),
          "; novel: ", record.novel.empty() ? "none" : join(record.novel, ", ")));
  const int n_way = trains ? check_episodes(sets, used, options, say) : 0;
  const std::vector<EvaluationGroup> groups = evaluation_groups(options, sets);
  for (const EvaluationGroup& group : groups)
    if (const std::string note = group.episodes.note(); !note.empty())
      say(cat(group.name, ", ", group.shots, group.shots == 1 ? " shot: " : " shots: ", note));
  say_what_is_left_out(groups, options, sets, say);
  json categories = json::array();
  for (const Category& category : sets.train.categories)
    categories.push_back({{"id", category.id}, {"name", category.name}});
  Prepared prepared;
  prepared.facts = {.train_samples = options.stop.episodes,
                    .valid_samples = std::ssize(groups) * options.evaluate.episodes,
                    .evaluation_passes = passes_over(groups, options),
                    .unit = "episodes",
                    .units_per_sample = 1,
                    .smaller_sample = options.smaller_episode(),
                    .parameters = parameter_count(options.detector()),
                    .batch_norm = true,
                    .fixed_micro = 1,
                    .default_global = 8};
  prepared.extra = {{"sets", to_json(record)},
                    {"boxes", (most + 7) / 8 * 8},
                    {"categories", categories},
                    {"made", options.made()}};
  prepared.data_hash = record.fingerprint;
  prepared.data_contents = record.contents;
  // If episode.n_way were recorded as used, it would also limit episodes of evaluation.
  const bool limits_none = std::all_of(
      groups.begin(), groups.end(),
      [&](const EvaluationGroup& group) { return group.episodes.shape().n_way <= n_way; });
  if (trains && limits_none) prepared.used = {{"episode.n_way", n_way}};
  return prepared;
}

// The sets of a run. An export has no record of where its pictures are, so data.path gives the
// place.
Sets sets_of_run(const json& extra, const FewshotOptions* options) {
  const SetsRecord record = sets_record_from_json(extra.at("sets"));
  if (record.has_files) return read_sets(record);
  if (options == nullptr || options->made())
    throw Error("an export does not say where they lie: data.path=DIR does");
  return read_sets(with_files(record, named_data(*options)));
}

// The picture ids of the run's validation set by file name. If several folders have a file of that
// name, the key contains the folder too. Empty if the set cannot be read any more.
json valid_picture_ids(const json& extra) {
  json ids = json::object();
  if (!extra.is_object() || !extra.contains("sets")) return ids;
  try {
    const Sets sets = sets_of_run(extra, nullptr);
    std::map<std::string, int> counts;
    for (const Picture& picture : sets.valid.pictures) ++counts[picture.path.filename().string()];
    for (const Picture& picture : sets.valid.pictures) {
      const fs::path name = picture.path.filename();
      const std::string key =
          (counts[name.string()] == 1 ? name : picture.path.parent_path().filename() / name)
              .generic_string();
      ids[key] = ids.contains(key) ? json() : json(picture.id);
    }
  } catch (const Error&) {
    return json::object();
  }
  return ids;
}

// The absolute paths, sorted, of the run's pictures that EXIF turns but whose boxes refer to the
// stored pixels. Boxes that are found in these pictures must refer to the stored pixels too.
std::vector<std::string> stored_pictures(const json& extra) {
  std::vector<std::string> paths;
  if (!extra.is_object() || !extra.contains("sets")) return paths;
  try {
    const SetsRecord record = sets_record_from_json(extra["sets"]);
    if (!record.has_files || !record.look) return paths;
    const Sets sets = read_sets(record);
    for (const DetectionData* data : {&sets.train, &sets.valid})
      for (const Picture& picture : data->pictures)
        if (picture.frame == Frame::stored)
          paths.push_back(fs::absolute(picture.path).lexically_normal().string());
  } catch (const Error&) {
    return {};  // the data cannot be read any more
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

// Gives classes of a support list the ids that the run has for their names. Other classes get new
// ids.
void number_classes(SupportList& list, const json& extra) {
  if (!extra.is_object() || !extra.contains("categories")) return;
  std::int64_t next = 1;
  std::map<std::string, std::int64_t> known;
  for (const json& category : extra["categories"]) {
    known[category.value("name", "")] = category.at("id");
    next = std::max(next, category.at("id").get<std::int64_t>() + 1);
  }
  for (SupportClass& one : list) {
    const auto found = known.find(one.name);
    one.id = found != known.end() ? found->second : next++;
  }
}

// The validation set of a run. The options name it if there is no run yet, or if the run is an
// export without the place of its set.
DetectionData validation_set(const FewshotOptions& options, const ItemQuery& query) {
  const json extra = extra_of_run(query.run_dir);
  if (extra.is_object() && extra.contains("sets")) {
    const bool is_known = sets_record_from_json(extra["sets"]).has_files || !options.made();
    return is_known ? sets_of_run(extra, &options).valid : DetectionData{};
  }
  if (!query.run_dir.empty()) return {};
  const FoundData found = found_data(options, {.cache_dir = query.cache_dir}, [](const auto&) {});
  return read_detection_sets(found, options.data.valid_share,
                             static_cast<std::uint64_t>(options.data.split_seed),
                             {.exif = options.data.exif})
      .valid;
}

std::vector<std::string> some_pictures(const FewshotOptions& options, const ItemQuery& query) {
  constexpr std::size_t most = 20;
  std::vector<std::string> paths;
  for (const Picture& picture : validation_set(options, query).pictures)
    if (paths.size() < most) paths.push_back(picture.path.string());
  return paths;
}

Prepared prepared_for_prediction(const FewshotOptions& options, const PrepareContext& context) {
  const json extra = extra_of_run(context.run_dir);
  SupportList list;
  if (!options.predict.supports.empty()) {
    list = read_supports(options.predict.supports, options.predict.supports_of, options.data.exif);
    number_classes(list, extra);
  } else {
    if (!extra.is_object() || !extra.contains("sets"))
      throw Error("there are no examples of what to look for",
                  "give a table of them: supports=LIST.csv, with file, class, x, y, w, h");
    Sets sets;
    try {
      sets = sets_of_run(extra, &options);
    } catch (const Error& error) {
      throw Error(cat("no supports are given, and the run's own cannot be read: ", error.what()),
                  "give a table of examples: supports=LIST.csv, with file, class, x, y, w, h");
    }
    list =
        supports_of_training(sets, used_classes(sets.split, ClassUse::all), options.episode.k_shot,
                             static_cast<std::uint64_t>(options.data.split_seed));
    if (context.say)
      context.say(cat("no supports are given: ", options.episode.k_shot,
                      " of the run's training set for each of ", list.size(), " classes"));
  }
  Prepared prepared;
  prepared.extra = {{"supports", to_json(list)}};
  if (std::vector<std::string> paths = stored_pictures(extra); !paths.empty())
    prepared.extra["stored_pictures"] = std::move(paths);
  prepared.facts.unit = "episodes";
  prepared.facts.parameters = parameter_count(options.detector());
  prepared.facts.batch_norm = true;
  return prepared;
}

Prepared prepare(const FewshotOptions& options, const PrepareContext& context) {
  if (options.made() && !options.data.valid.empty())
    throw Error("data.valid says what to validate on, but nothing says what to train on",
                "give data.path or data.train");
  if (context.purpose == Purpose::predict) return prepared_for_prediction(options, context);
  const Say say = context.say ? context.say : [](const std::string&) {};
  SetsRecord record{.files = {},
                    .valid_share = options.data.valid_share,
                    .seed = static_cast<std::uint64_t>(options.data.split_seed),
                    .base = {},
                    .novel = {},
                    .fingerprint = {},
                    .contents = {},
                    .exif = options.data.exif,
                    .look = false};
  const json extra = extra_of_run(context.run_dir);
  const bool of_run = extra.is_object() && extra.contains("sets");
  if (of_run) {
    const SetsRecord before = sets_record_from_json(extra["sets"]);
    const bool was_made = extra.value("made", false), names_none = options.made() && !was_made;
    if (names_none && !before.has_files)  // only an export has no files
      throw Error("the run was trained on pictures, but data.path does not say where some are",
                  "name them with data.path=DIR");
    const bool keeps_files = names_none || (is_older(before) && names_no_files(options));
    const FoundData found = keeps_files ? before.files : found_data(options, context, say);
    // the record with the places where the files are now
    SetsRecord again = with_files(before, found);
    again.exif = options.data.exif;
    if (same_files(before, found) ||
        (was_made == options.made() && context.purpose != Purpose::evaluate)) {
      Sets sets = read_sets(again, /*look=*/true);
      again.look = needs_look(sets.train, sets.valid);
      return prepared_from(again, std::move(sets), options, context.purpose, say);
    }
    record.files = found;
    DetectionSets read =
        read_detection_sets(found, record.valid_share, record.seed, looking(options));
    record.look = again.look = needs_look(read.train, read.valid);
    for (const std::string& line : read.warnings) say(line);
    const bool same_contents =
        before.contents.empty() || contents_of(read.train, read.valid) == before.contents;
    if (same_contents && fingerprint_of(read.train, read.valid) == before.fingerprint)
      return prepared_from(again, with_split(std::move(read), again), options, context.purpose,
                           say);
    const ClassSplit split = split_of_run(before, read.train);
    record.base = names_of(read.train, split.base);
    record.novel = names_of(read.train, split.novel);
    say("these are not the pictures that the run began with: classes that it was not trained on "
        "are novel");
    return prepared_from(record,
                         {.train = std::move(read.train),
                          .valid = std::move(read.valid),
                          .split = split,
                          .warnings = {}},
                         options, context.purpose, say);
  }
  record.files = found_data(options, context, say);
  DetectionSets read =
      read_detection_sets(record.files, record.valid_share, record.seed, looking(options));
  record.look = needs_look(read.train, read.valid);
  for (const std::string& line : read.warnings) say(line);
  const ClassSplit split = split_of(options, read.train);
  record.base = names_of(read.train, split.base);
  record.novel = names_of(read.train, split.novel);
  record.fingerprint = fingerprint_of(read.train, read.valid);
  record.contents = contents_of(read.train, read.valid);
  return prepared_from(record,
                       {.train = std::move(read.train),
                        .valid = std::move(read.valid),
                        .split = split,
                        .warnings = {}},
                       options, context.purpose, say);
}

// Picture ids stay, so that an export numbers pictures as its run does.
void forget_places(json& extra, std::map<std::string, std::string>& /*kept*/) {
  if (!extra.is_object() || !extra.contains("sets") || !extra["sets"].is_object()) return;
  if (json ids = valid_picture_ids(extra); !ids.empty()) extra["picture_ids"] = std::move(ids);
  for (const char* set : {"train", "valid"}) extra["sets"].erase(set);
}

[[maybe_unused]] const bool linked = [] {
  FewshotOptions::preparer = {
      .prepare = [](FewshotOptions& options,
                    const PrepareContext& context) { return prepare(options, context); },
      .score = [](FewshotOptions& options,
                  const ScoreContext& context) { return score_files(options, context); },
      .forget_places = forget_places};
  validation_pictures = some_pictures;
  return true;
}();

}  // namespace
}  // namespace lockstep::fewshot
