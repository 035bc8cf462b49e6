#include "tools/report/trackers/tracker_store.h"

#include <algorithm>
#include <fstream>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "tools/report/trackers/mlflow_files.h"
#include "tools/report/trackers/tracked_facts.h"
#include "tools/report/trackers/tracker_databases.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

constexpr char separator = '#';
constexpr std::size_t shortest_id = 6, most_listed = 8;

bool is_sqlite(const fs::path& path) {
  std::error_code ignored;
  constexpr std::string_view magic("SQLite format 3\0", 16);
  if (!fs::is_regular_file(path, ignored)) return false;
  std::string head(magic.size(), '\0');
  std::ifstream in(path, std::ios::binary);
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  return in && head == magic;
}

bool is_store(const fs::path& path) {
  return is_sqlite(path) || is_mlflow_store(path) || is_mlflow_experiment(path);
}

fs::path no_slash(const fs::path& path) { return path.has_filename() ? path : path.parent_path(); }

std::string shown_name(const TrackedRun& run) { return run.name.empty() ? run.id : run.name; }

bool is_meant(const TrackedRun& run, const std::string& word) {
  return run.id == word || run.name == word || cat(run.experiment, "/", run.name) == word ||
         cat(run.experiment, "/", run.id) == word;
}

// A few of the runs, named in words.
std::string some_runs(const std::vector<TrackedRun>& runs, bool by_id) {
  std::vector<std::string> words;
  for (const TrackedRun& run : runs) {
    if (words.size() == most_listed) {
      words.push_back(cat("and ", runs.size() - most_listed, " more"));
      break;
    }
    words.push_back(printable(by_id ? run.id : shown_name(run)));
  }
  return join(words, ", ");
}

[[noreturn]] void throw_which(const std::string& what, const std::vector<TrackedRun>& runs,
                              const fs::path& store, bool by_id) {
  throw Error(cat(printable(store.string()), what, some_runs(runs, by_id)),
              cat("name one: ", shell_word(printable(store.string())), separator,
                  shell_word(printable(by_id ? runs.front().id : shown_name(runs.front()))),
                  "; lockstep runs ", shell_word(printable(store.string())), " lists them"));
}

[[noreturn]] void throw_no_such(const TrackedWord& word, const std::vector<TrackedRun>& runs) {
  std::vector<std::string> names;
  for (const TrackedRun& run : runs) names.push_back(run.name);
  const std::string near = nearest(word.run, names);
  const std::string list =
      cat("lockstep runs ", shell_word(printable(word.store.string())), " lists its runs");
  throw Error(cat("there is no run ", printable(word.run), " in ", printable(word.store.string())),
              near.empty() ? list : cat("did you mean ", printable(near), "? ", list));
}

}  // namespace

std::unique_ptr<TrackerStore> open_tracker_store(const fs::path& path) {
  if (is_sqlite(path)) return open_tracker_database(fs::canonical(path));
  if (is_mlflow_store(path) || is_mlflow_experiment(path)) return open_mlflow_files(path);
  return nullptr;
}

std::optional<TrackedWord> tracked_word(const std::string& word) {
  std::error_code ignored;
  if (word.empty()) return std::nullopt;
  const fs::path path = no_slash(word);
  if (is_mlflow_run(path)) {
    const fs::path folder = fs::absolute(path).lexically_normal();
    return TrackedWord{path.has_parent_path() ? path.parent_path() : folder.parent_path(),
                       folder.filename().string()};
  }
  if (is_store(path)) return TrackedWord{path, ""};
  if (fs::exists(path, ignored)) return std::nullopt;
  // Splits at the first separator, as in "STORE#RUN". Names of runs may contain the separator, but
  // those of stores rarely do.
  if (const std::size_t at = word.find(separator); at != word.npos && at > 0) {
    const fs::path store = no_slash(word.substr(0, at));
    if (is_store(store)) return TrackedWord{store, word.substr(at + 1)};
  }
  const fs::path store = path.parent_path().parent_path();
  if (!store.empty() && is_mlflow_store(store))
    return TrackedWord{store, path.lexically_relative(store).string()};
  return std::nullopt;
}

TrackedRun find_tracked_run(const std::vector<TrackedRun>& runs, const TrackedWord& word) {
  if (runs.empty()) throw Error(cat(printable(word.store.string()), " holds no runs"));
  if (word.run.empty()) {
    if (runs.size() == 1) return runs.front();
    throw_which(cat(" holds ", runs.size(), " runs: "), runs, word.store, false);
  }
  std::vector<TrackedRun> found;
  for (const TrackedRun& run : runs)
    if (is_meant(run, word.run)) found.push_back(run);
  if (found.empty() && word.run.size() >= shortest_id)
    for (const TrackedRun& run : runs)
      if (run.id.starts_with(word.run)) found.push_back(run);
  if (found.empty()) throw_no_such(word, runs);
  if (found.size() > 1)
    throw_which(cat(" holds ", found.size(), " runs that are ", printable(word.run), ": "), found,
                word.store, true);
  return found.front();
}

Trial read_tracked_trial(const TrackedWord& word) {
  const std::unique_ptr<TrackerStore> store = open_tracker_store(word.store);
  if (store == nullptr) throw Error(cat(printable(word.store.string()), " is no store of runs"));
  const TrackedRun run = find_tracked_run(store->runs(), word);
  const std::string path = fs::absolute(word.store).lexically_normal().string();
  Trial trial{.name = shown_name(run),
              .path = cat(path, separator, run.id),
              .source = cat(store->kind(), " run")};
  if (!run.experiment.empty()) trial.set("experiment", FactKind::note, run.experiment);
  if (std::isfinite(run.started)) trial.set("started", FactKind::note, run.started);
  store->read(run, trial);
  add_tracked_state(run.state, trial);
  tell_what_is_tracked(trial);
  return trial;
}

}  // namespace lockstep
