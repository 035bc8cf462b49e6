// Turns options into cached volumes and a record of them.
#include "recipes/volume/prepare/prepare.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <utility>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/hash.h"
#include "core/base/text/text.h"
#include "recipes/volume/prepare/cache/volume_part.h"
#include "recipes/volume/prepare/find/entries.h"
#include "recipes/volume/prepare/find/nnunet_dataset.h"
#include "recipes/volume/prepare/made_volumes.h"
#include "recipes/volume/prepare/prepared_run.h"
#include "recipes/volume/prepare/split.h"
#include "recipes/volume/prepare/warn_values.h"
#include "recipes/volume/voxels/value_range.h"

namespace lockstep::volume {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::vector<Pair> pairs_of(const VolumeOptions& options, const PrepareContext& context,
                           const Say& say) {
  std::string ending;
  if (const fs::path file = nnunet_dataset_file(options.data.path); !file.empty())
    ending = read_nnunet_dataset(file).file_ending;
  if (!options.made())
    return find_pairs({.path = options.data.path,
                       .images = options.data.images,
                       .labels = options.data.labels,
                       .csv = options.data.csv,
                       .ending = ending},
                      say);
  say("no data.path is given: the volumes are made, curved sheets and blobs in noise");
  return find_pairs({.path = made_volumes(context.cache_dir, say).string()}, say);
}

// Makes the names of folders absolute, as the run's record needs them.
void name_folders(VolumeOptions& options) {
  for (std::string* const folder : {&options.data.images, &options.data.labels})
    if (!folder->empty()) *folder = fs::absolute(folder_below(options.data.path, *folder)).string();
}

CacheLimits limits_of(const VolumeOptions& options) { return {.most_gb = options.data.cache_gb}; }

const Pair* find_id(const std::vector<Pair>& pairs, const std::string& id) {
  const auto found =
      std::find_if(pairs.begin(), pairs.end(), [&](const Pair& pair) { return pair.id == id; });
  return found == pairs.end() ? nullptr : &*found;
}

// Volumes of a run that are missing or have changed.
struct Difference {
  std::vector<std::string> missing, changed;
  bool any() const { return !missing.empty() || !changed.empty(); }
};

// Whether the two cached files contain the same voxels. A file's name depends on the source and on
// how it was read (files.*). So files with different names may still have the same voxels.
bool hold_the_same(const fs::path& before, const fs::path& now, const fs::path& folder) try {
  if (before.filename() == now.filename()) return true;
  const CachedVolume a(folder / before.filename()), b(now);
  return a.shape() == b.shape() && a.header().type == b.header().type &&
         a.header().spacing_mm == b.header().spacing_mm && a.header().content == b.header().content;
} catch (const Error&) {
  return false;
}

// Updates the run's entries with the places where their volumes are now.
Difference bring_up_to_date(std::vector<VolumeEntry>& entries, const std::vector<Pair>& pairs,
                            const VolumeOptions& options, const fs::path& folder, const Say& say) {
  Difference difference;
  const auto add = [](std::vector<std::string>& ids, const std::string& id) {
    // two entries may be parts of one volume
    if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
  };
  std::vector<Pair> wanted;
  for (const VolumeEntry& entry : entries)
    if (const Pair* const pair = find_id(pairs, entry.id))
      wanted.push_back(*pair);
    else
      add(difference.missing, entry.id);
  if (difference.any()) return difference;
  std::vector<VolumeEntry> now =
      cached_entries(wanted, decode_options(options), limits_of(options), folder, say);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (const auto& part = entries[i].part; part && fits(*part, now[i].shape))
      now[i] = part_of(now[i], *part, folder, limits_of(options));
    if (!hold_the_same(entries[i].cached, now[i].cached, folder))
      add(difference.changed, entries[i].id);
    entries[i].cached = now[i].cached;
    entries[i].image = now[i].image;
    entries[i].label = now[i].label;
  }
  return difference;
}

[[noreturn]] void fail_changed(const Difference& difference) {
  const bool missing = !difference.missing.empty();
  const std::vector<std::string>& ids = missing ? difference.missing : difference.changed;
  throw Error(
      cat(ids.size() == 1 ? "a volume" : "volumes", " of this run ",
          ids.size() == 1 ? (missing ? "is" : "has") : (missing ? "are" : "have"),
          missing ? " not there any more: " : " changed since the run began: ", first_five(ids)),
      cat("restore the files, name the place where they lie now with data.path, or start a new run",
          missing ? "" : "; a run of an older version may have read the same files otherwise"));
}

bool any_lies_where_it_was(const PreparedVolumes& before, const std::vector<Pair>& pairs) {
  const auto is_there = [&](const VolumeEntry& entry) {
    return std::any_of(pairs.begin(), pairs.end(),
                       [&](const Pair& pair) { return pair.image == entry.image; });
  };
  return std::any_of(before.train.begin(), before.train.end(), is_there) ||
         std::any_of(before.valid.begin(), before.valid.end(), is_there);
}

// Prepares volumes that are not the run's own. All of them are evaluated.
PreparedVolumes other_set(const PreparedVolumes& before, const std::vector<Pair>& pairs,
                          const VolumeOptions& options, const fs::path& folder, const Say& say) {
  say(cat("these are not the volumes that the run began with: ",
          pairs.size() == 1 ? "this one is" : cat("all ", pairs.size(), " of them are"),
          " evaluated"));
  PreparedVolumes volumes = before;
  volumes.valid = volumes.train =
      cached_entries(pairs, decode_options(options), limits_of(options), folder, say);
  if (const VolumeEntry& first = volumes.valid.at(0); first.shape.channels != before.channels)
    throw Error(cat(first.image.string(), " has ", first.shape.channels,
                    " channels, but the run was trained on ", before.channels),
                "evaluate volumes like those that were trained on");
  return volumes;
}

// Throws Error because a run without validation volumes cannot be evaluated on its own data.
[[noreturn]] void fail_nothing_held_back(const std::vector<VolumeEntry>& train,
                                         const VolumeOptions& options) {
  const std::string others = "name other labelled volumes with data.path=FOLDER, or train again ";
  if (train.size() == 1 && options.data.valid_share > 0)
    throw Error(
        cat("the run has no validation data: its volume of ", describe(train[0].shape),
            " is too small to hold some back from patches of ", join(options.data.patch, ",")),
        cat(others, "with a smaller data.patch, or data.pad=true"));
  throw Error("the run has no validation data: no volume was held back",
              cat(others, "with data.valid_share=0.2 or data.valid=ID"));
}

// Prepares an existing run: the same split of the same volumes.
PreparedVolumes prepare_again(const VolumeOptions& options, const PrepareContext& context,
                              PreparedVolumes before, const fs::path& folder, const Say& say) {
  if (options.made() && !is_made_run(context.run_dir))  // an export has no paths
    throw Error("the run was trained on volumes, but data.path does not say where some are",
                "name them with data.path=DATA");
  const std::vector<Pair> pairs = pairs_of(options, context, say);
  PreparedVolumes volumes = before;
  // A single volume is in both sets, because each takes a part of it.
  std::vector<VolumeEntry> all = before.train;
  all.insert(all.end(), before.valid.begin(), before.valid.end());
  const Difference difference = bring_up_to_date(all, pairs, options, folder, say);
  if (difference.any()) {
    if (context.purpose != Purpose::evaluate || any_lies_where_it_was(before, pairs))
      fail_changed(difference);
    return other_set(before, pairs, options, folder, say);
  }
  if (context.purpose == Purpose::evaluate && before.valid.empty())
    fail_nothing_held_back(before.train, options);
  const auto middle = all.begin() + std::ssize(before.train);
  volumes.train.assign(all.begin(), middle);
  volumes.valid.assign(middle, all.end());
  return volumes;
}

// Writes the record of a set into a folder of its own, because all records have the same file name.
fs::path write_record(const PreparedVolumes& volumes, const fs::path& folder) {
  const TemporaryDirectory scratch;
  write_prepared(scratch.path() / "volumes.json", volumes);
  const std::string text = read_file(scratch.path() / "volumes.json", list_bytes);
  Hasher hasher;
  hasher.update(text);
  const fs::path path = folder / "sets" / hasher.hex() / "volumes.json";
  std::error_code ignored;
  if (fs::exists(path, ignored) && read_file(path, list_bytes) == text) return path;
  make_directories(path.parent_path());
  write_file_atomic(path, text);
  return path;
}

bool is_default(const OptionTable& table, const std::string& key) {
  for (const OptionInfo& option : table.options())
    if (option.key == key) return option.source.kind == ValueSource::Kind::standard;
  return false;
}

ValueRange values_of(const std::vector<VolumeEntry>& entries) {
  ValueRange range;
  for (const VolumeEntry& entry : entries) range.add(CachedVolume(entry.cached).header());
  return range;
}

Prepared prepared_for_prediction(const VolumeOptions& options, const PrepareContext& context) {
  json extra = extra_of_run(context.run_dir);
  if (!extra.is_object() || !extra.contains("normalization") || !extra.contains("channels")) {
    const std::optional<PreparedVolumes> volumes = volumes_of_run(context.run_dir);
    if (!volumes)
      throw Error(cat("the run ", context.run_dir.string(),
                      " does not say how its volumes were normalised"),
                  "restore its run.json, or name another run");
    extra = {{"normalization", to_json(volumes->normalization)}, {"channels", volumes->channels}};
  }
  Prepared prepared;
  prepared.extra = {{"normalization", extra.at("normalization")},
                    {"channels", extra.at("channels")},
                    {"values", extra.value("values", json())},
                    {"made", extra.value("made", false)}};
  prepared.facts.unit = "patches";
  prepared.facts.parameters = parameter_count(options.net(extra.at("channels")));
  return prepared;
}

// Hashes the names of the cached files, because these are hashes of their contents.
std::string data_hash(const PreparedVolumes& volumes) {
  Hasher hasher;
  for (const auto* set : {&volumes.train, &volumes.valid}) {
    for (const VolumeEntry& entry : *set)
      hasher.update(cat(entry.cached.filename().string(), " ", entry.begin, " ", entry.end, "\n"));
    hasher.update("\n");
  }
  return hasher.hex();
}

double passes_over(const std::vector<VolumeEntry>& entries, const VolumeOptions& options) {
  double passes = 0;
  for (const VolumeEntry& entry : entries)
    passes += options.passes_over({entry.end - entry.begin, entry.shape.height, entry.shape.width});
  return passes;
}

Prepared prepared_from(const PreparedVolumes& volumes, const VolumeOptions& options,
                       const fs::path& folder) {
  const fs::path record = write_record(volumes, folder);
  Prepared prepared;
  prepared.facts = {.train_samples = std::ssize(volumes.train) * options.data.patches,
                    .valid_samples = std::ssize(volumes.valid),
                    .evaluation_passes = passes_over(volumes.valid, options),
                    .unit = "patches",
                    .units_per_sample = 1,
                    .parameters = parameter_count(options.net(volumes.channels)),
                    .default_global = 16};
  prepared.extra = {{"volumes", record.string()},
                    {"normalization", to_json(volumes.normalization)},
                    {"channels", volumes.channels},
                    {"values", to_json(values_of(volumes.train))},
                    {"made", options.made()}};
  prepared.keep = {record};
  prepared.data_hash = data_hash(volumes);
  prepared.used = {{"data.channels", volumes.channels}};
  return prepared;
}

}  // namespace

Prepared prepare_volumes(VolumeOptions& options, const PrepareContext& context) {
  if (context.purpose == Purpose::predict) return prepared_for_prediction(options, context);
  const Say say = context.say ? context.say : [](const std::string&) {};
  const fs::path folder = fs::absolute(context.cache_dir / "volumes").lexically_normal();
  name_folders(options);
  if (auto before = volumes_of_run(context.run_dir)) {
    return prepared_from(prepare_again(options, context, std::move(*before), folder, say), options,
                         folder);
  }
  if (const fs::path file = nnunet_dataset_file(options.data.path); !file.empty())
    take_nnunet_dataset(options, read_nnunet_dataset(file), /*training=*/true, say);
  const std::vector<Pair> pairs = pairs_of(options, context, say);
  std::vector<std::string> ids;
  for (const Pair& pair : pairs) ids.push_back(pair.id);
  choose_valid(options, ids);  // reports an impossible split before anything is decoded
  const std::vector<VolumeEntry> entries =
      cached_entries(pairs, training_options(options), limits_of(options), folder, say);
  const PreparedVolumes volumes = split_entries(entries, options, folder, say);
  for (const std::string& line : said_of_values(volumes)) say(line);
  for (const std::string& line : said_of_white(volumes)) say(line);
  const bool meant = !is_default(options.table, "data.ignore") || options.made();
  for (const std::string& line : said_of_ignored(volumes, meant)) say(line);
  say(cat(volumes.train.size(), volumes.train.size() == 1 ? " volume" : " volumes",
          " to train on, ", volumes.valid.size(), " to validate on"));
  return prepared_from(volumes, options, folder);
}

namespace {

[[maybe_unused]] const bool linked = [] {
  VolumeOptions::preparer = {.data = "the volumes",
                             .prepare = prepare_volumes,
                             .items = find_items,
                             .score = score_volumes,
                             .forget_places = forget_places};
  return true;
}();

}  // namespace
}  // namespace lockstep::volume
