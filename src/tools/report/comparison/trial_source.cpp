#include "tools/report/comparison/trial_source.h"

#include <fstream>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "tools/report/facts/batch_facts.h"
#include "tools/report/facts/facts_file.h"
#include "tools/report/facts/run_facts.h"
#include "tools/report/logs/file_kinds.h"
#include "tools/report/logs/foreign_csv.h"
#include "tools/report/logs/json_log.h"
#include "tools/report/logs/log_folders.h"
#include "tools/report/tensorboard/foreign_tensorboard.h"
#include "tools/report/trackers/tracker_store.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

bool holds(const fs::path& folder, const char* file) {
  std::error_code ignored;
  return fs::is_regular_file(folder / file, ignored);
}

fs::path without_slash(fs::path path) {
  path = fs::absolute(path).lexically_normal();
  return path.has_filename() ? path : path.parent_path();
}

// The first bytes of a file.
std::string head_of(const fs::path& file) {
  std::string head(4096, '\0');
  std::ifstream in(file, std::ios::binary);
  in.read(head.data(), std::ssize(head));
  head.resize(static_cast<std::size_t>(in.gcount()));
  return head;
}

// Throws Error for a file whose name has no supported ending.
[[noreturn]] void throw_no_trial(const fs::path& file, const std::string& ending) {
  const auto other = no_log_as_text(head_of(file), file);
  const std::string text = ending.empty() ? "text without an ending in its name"
                                          : cat("text whose name ends in ", printable(ending));
  throw Error(
      cat(printable(file.string()), " is ", other ? other->kind : text,
          ": looked for a log (.csv, .tsv, .json, .jsonl, events.out.tfevents.…), a file of facts "
          "(.toml) or a database of MLflow or trackio"),
      !other ? "if it is a table with a line of names, name it .csv"
      : !other->remedy.empty()
          ? other->remedy
          : "what is compared are runs, batches, logs of other programs and files of facts; see "
            "`lockstep compare --help`");
}

Trial read_file_trial(const fs::path& file) {
  const std::string name = file.filename().string(), ending = file.extension().string();
  if (is_tensorboard_file(name)) return read_tensorboard_trial(file);
  if (ending == ".toml") return read_facts_file(file);
  if (ending == ".csv" || ending == ".tsv") return read_csv_trial(file);
  if (is_json_log_name(name)) return read_json_log(file);
  throw_no_trial(file, ending);
}

}  // namespace

Trial read_trial(const std::string& word, const fs::path& root) {
  std::error_code ignored;
  const fs::path path(word), named = root / word;
  const bool plain = word.find('/') == word.npos && !word.empty();
  for (const fs::path& place : plain ? std::vector{named, path} : std::vector{path})
    if (holds(place, "batch.json")) return read_batch_facts({without_slash(place)});
  if (!word.empty() && !holds(named, "run.json")) {
    if (const std::optional<TrackedWord> tracked = tracked_word(word))
      return read_tracked_trial(*tracked);
    if (fs::is_regular_file(path, ignored)) return read_file_trial(path);
    for (const fs::path& place : {path, named})
      if (fs::is_directory(place, ignored)) {
        if (holds(place, "run.json")) break;
        return has_own_tables(place) ? read_csv_trial(place) : read_log_folder(place);
      }
  }
  return read_run_facts(RunDir::open(word, root));
}

}  // namespace lockstep
