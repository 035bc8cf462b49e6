#include "tools/report/logs/log_folders.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "core/base/whole_number.h"
#include "tools/report/logs/foreign_csv.h"
#include "tools/report/logs/json_log.h"
#include "tools/report/tensorboard/foreign_tensorboard.h"
#include "tools/report/tensorboard/tensorboard_parts.h"
#include "tools/report/trackers/plain_yaml.h"
#include "tools/report/trackers/tracked_facts.h"
#include "tools/report/trackers/tracker_store.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

constexpr const char* trainer_state = "trainer_state.json";  // written by Transformers
constexpr const char* csv_metrics = "metrics.csv";           // written by Lightning's CSVLogger
constexpr const char* hyperparameters = "hparams.yaml";      // written by Lightning's loggers
constexpr std::size_t most_entries = 20'000, most_named_logs = 8;
constexpr int deepest = 4;

bool has_file(const fs::path& folder, const char* name) {
  std::error_code ignored;
  return fs::is_regular_file(folder / name, ignored);
}

// Whether the folder itself holds a log. Unrelated subfolders are not searched.
bool is_log_folder(const fs::path& folder) {
  return has_tensorboard_files(folder) || has_file(folder, csv_metrics) ||
         !tensorboard_parts(folder).empty();
}

bool is_tracker(const fs::path& path) {
  const std::optional<TrackedWord> word = tracked_word(path.string());
  return word && word->run.empty();
}

// The step in a folder name of Transformers, such as "checkpoint-500".
std::optional<std::int64_t> step_of_checkpoint(const fs::path& folder) {
  constexpr std::string_view begin = "checkpoint-";
  const std::string name = folder.filename().string();
  if (!name.starts_with(begin) || !has_file(folder, trainer_state)) return std::nullopt;
  return whole_number(std::string_view(name).substr(begin.size()));
}

struct FoundBelow {
  std::vector<fs::path> logs;  // folders and stores, sorted by name
  fs::path checkpoint;         // the newest checkpoint; empty if there is none
  std::int64_t checkpoint_step = -1;
  std::size_t entries = 0;
};

// Searches the folders below. Lockstep's own runs are skipped, and links are not followed.
void look_below(const fs::path& folder, int depth, FoundBelow& found) {
  std::vector<fs::path> folders;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (++found.entries > most_entries) return;
    std::error_code ignored;
    if (entry->is_symlink(ignored)) continue;
    if (entry->is_directory(ignored))
      folders.push_back(entry->path());
    else if (entry->path().extension() == ".db" && is_tracker(entry->path()))
      found.logs.push_back(entry->path());
  }
  std::sort(folders.begin(), folders.end());
  for (const fs::path& one : folders) {
    if (has_file(one, "run.json") || has_file(one, "batch.json")) continue;
    if (const std::optional<std::int64_t> step = step_of_checkpoint(one)) {
      if (*step > found.checkpoint_step) found.checkpoint = one;
      found.checkpoint_step = std::max(found.checkpoint_step, *step);
    } else if (is_log_folder(one) || is_tracker(one)) {
      found.logs.push_back(one);
    } else if (depth < deepest) {
      look_below(one, depth + 1, found);
    }
  }
}

void add_hyperparameters(const fs::path& folder, Trial& trial) {
  if (!has_file(folder, hyperparameters)) return;
  for (const auto& [name, value] : plain_yaml(read_file(folder / hyperparameters)))
    add_parameter(name, value, trial);
  tell_what_is_tracked(trial);
}

std::string name_of_folder(const fs::path& folder) {
  const fs::path path = fs::absolute(folder).lexically_normal();
  return (path.has_filename() ? path : path.parent_path()).filename().string();
}

// The log in the folder itself, named after the folder.
std::optional<Trial> read_own(const fs::path& folder) {
  std::optional<Trial> trial;
  if (const std::vector<TensorboardPart> parts = tensorboard_parts(folder); !parts.empty())
    trial = read_tensorboard_parts(folder, parts);
  else if (has_tensorboard_files(folder))
    trial = read_tensorboard_trial(folder);
  else if (has_file(folder, csv_metrics))
    trial = read_csv_trial(folder / csv_metrics);
  else
    return std::nullopt;
  trial->name = name_of_folder(folder);
  add_hyperparameters(folder, *trial);
  return trial;
}

// Reads a log that was found. The trial is named after the requested folder, because "version_0" or
// a date says nothing.
Trial read_found(const fs::path& path, const fs::path& folder) {
  if (const std::optional<TrackedWord> word = tracked_word(path.string()))
    return read_tracked_trial(*word);
  Trial trial = *read_own(path);
  trial.name = name_of_folder(folder);
  return trial;
}

Trial read_state(const fs::path& folder) {
  Trial trial = read_json_log(folder / trainer_state);
  trial.name = name_of_folder(folder);
  return trial;
}

Trial read_newest_checkpoint(const fs::path& checkpoint, const fs::path& folder) {
  Trial trial = read_state(checkpoint);
  trial.name = name_of_folder(folder);
  trial.cautions.push_back(cat("its numbers are those of ",
                               printable(checkpoint.lexically_relative(folder).string()),
                               ", its newest checkpoint"));
  return trial;
}

[[noreturn]] void throw_several(const fs::path& folder, const std::vector<fs::path>& logs) {
  std::vector<std::string> names;
  for (const fs::path& log : logs) {
    if (names.size() == most_named_logs) {
      names.push_back(cat("and ", logs.size() - most_named_logs, " more"));
      break;
    }
    names.push_back(printable(log.lexically_relative(folder).string()));
  }
  throw Error(cat(printable(folder.string()), " is not a run, but ", logs.size(),
                  " logs lie in it: ", join(names, ", ")),
              cat("name one of them: ", printable(logs.back().string())));
}

// Whether the logs are those of a resumed Trainer's starts. The Trainer's checkpoints have the
// numbers of all starts.
bool are_starts(const FoundBelow& found, const fs::path& folder) {
  const auto parent = [&](const fs::path& path) {
    return path.lexically_relative(folder).parent_path();
  };
  return found.logs.size() > 1 && !found.checkpoint.empty() && parent(found.checkpoint).empty() &&
         has_file(found.checkpoint, trainer_state) &&
         std::all_of(found.logs.begin(), found.logs.end(),
                     [&](const fs::path& log) { return parent(log) == "runs"; });
}

}  // namespace

Trial read_log_folder(const fs::path& folder) {
  if (std::optional<Trial> trial = read_own(folder)) return std::move(*trial);
  FoundBelow found;
  look_below(folder, 1, found);
  // Each start of a Trainer has a separate log, and its state has the numbers of all starts.
  if (found.logs.size() != 1 && has_file(folder, trainer_state)) return read_state(folder);
  if (found.logs.size() == 1) return read_found(found.logs.front(), folder);
  if (are_starts(found, folder)) return read_newest_checkpoint(found.checkpoint, folder);
  if (!found.logs.empty()) throw_several(folder, found.logs);
  if (!found.checkpoint.empty()) return read_newest_checkpoint(found.checkpoint, folder);
  throw Error(cat(printable(folder.string()), " is not a run, and holds no log that is known"),
              "looked for, there and in folders below: run.json, batch.json, "
              "events.out.tfevents.…, metrics.csv, trainer_state.json, meta.yaml and databases of "
              "trackers");
}

}  // namespace lockstep
