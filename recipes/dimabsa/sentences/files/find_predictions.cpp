// Finds predictions in folders and archives.
#include "recipes/dimabsa/sentences/files/find_predictions.h"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/json/json.h"
#include "core/base/text/text.h"
#include "core/media/zip_reader.h"
#include "recipes/dimabsa/sentences/files/file_name.h"
#include "recipes/dimabsa/sentences/scores/tuple_lists.h"

namespace lockstep::dimabsa {
namespace {

namespace fs = std::filesystem;

std::string last_part(const std::string& name) { return name.substr(name.rfind('/') + 1); }

bool is_of_another_task(const std::string& name, Task task) {
  for (const Task other : {Task::aspects, Task::triplets, Task::quadruplets})
    if (other != task && ("/" + name).find(cat("/subtask_", number_of(other), "/")) != name.npos)
      return true;
  return false;
}

bool can_be(const std::string& name, const WantedPredictions& wanted) {
  const std::string file = last_part(name);
  if (!file.ends_with(".jsonl") || file.starts_with(".") || is_of_another_task(name, wanted.task))
    return false;
  const auto said = parse_file_name(file);
  return !said || ((wanted.language.empty() || said->language == wanted.language) &&
                   (wanted.domain.empty() || said->domain == wanted.domain) &&
                   (!said->task || said->task == wanted.task));
}

bool is_in_folder_of_task(const std::string& name, Task task) {
  return ("/" + name).find(cat("/subtask_", number_of(task), "/")) != name.npos;
}

bool is_named_as_predictions(const std::string& name) {
  return last_part(name).starts_with("pred_");
}

// A hint for missing predictions. It names other tasks with predictions, because one of these may
// be meant.
std::string hint_of_none(const std::vector<std::string>& names, Task wanted) {
  std::string hint = "name the file itself: predictions=FILE.jsonl";
  for (const Task other : {Task::aspects, Task::triplets, Task::quadruplets})
    if (other != wanted && std::any_of(names.begin(), names.end(), [&](const std::string& name) {
          return is_in_folder_of_task(name, other);
        }))
      hint += cat("; there are some of task ", number_of(other), ": task=", number_of(other));
  return hint;
}

std::vector<std::string> files_below(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, fs::directory_options::skip_permission_denied,
                                              error);
       !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    if (entry->is_regular_file(error))
      names.push_back(fs::relative(entry->path(), folder, error).generic_string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

constexpr Task all_tasks[] = {Task::aspects, Task::triplets, Task::quadruplets};

bool is_lines(const std::string& name) {
  return name.ends_with(".jsonl") && !last_part(name).starts_with(".");
}

bool says_task(const std::string& name, Task task) {
  const auto said = parse_file_name(name);
  return is_in_folder_of_task(name, task) || (said && said->task == task);
}

std::vector<Task> tasks_of_line(const std::string& content) {
  for (const std::string& line : split(content, '\n')) {
    const nlohmann::json object = parse_json(trim(line));
    if (!object.is_object()) continue;
    for (const Task task : all_tasks)
      if (object.contains(output_key(task))) return {task};
    return {};
  }
  return {};
}

fs::path extract_predictions(const fs::path& zip, const WantedPredictions& wanted,
                             const fs::path& scratch) {
  ZipReader reader(zip);
  std::vector<std::string> names;
  for (const ZipEntry& entry : reader.entries()) names.push_back(entry.name);
  const std::string name = choose_predictions(names, wanted, zip.string());
  const auto at = std::find(names.begin(), names.end(), name) - names.begin();
  return reader.extract(static_cast<std::size_t>(at), scratch);
}

}  // namespace

std::string choose_predictions(const std::vector<std::string>& names,
                               const WantedPredictions& wanted, const std::string& where) {
  std::vector<std::string> candidates;
  std::copy_if(names.begin(), names.end(), std::back_inserter(candidates),
               [&](const std::string& name) { return can_be(name, wanted); });
  const auto narrow = [&](const auto& holds) {
    if (std::any_of(candidates.begin(), candidates.end(), holds))
      std::erase_if(candidates, [&](const std::string& name) { return !holds(name); });
  };
  narrow([&](const std::string& name) { return is_in_folder_of_task(name, wanted.task); });
  narrow(is_named_as_predictions);
  if (candidates.size() == 1) return candidates[0];
  const std::string expected =
      prediction_name(wanted.task, wanted.language.empty() ? "LANG" : wanted.language,
                      wanted.domain.empty() ? "DOMAIN" : wanted.domain);
  if (candidates.empty())
    throw Error(
        cat(where, " holds no predictions of task ", number_of(wanted.task), " (", expected, ")"),
        hint_of_none(names, wanted.task));
  std::vector<std::string> shown = candidates;
  for (std::string& name : shown) name = printable(name);
  throw Error(
      cat(where, " holds ", candidates.size(), " files that could be meant: ", join(shown, ", ")),
      "name the file itself: predictions=FILE.jsonl, or set data.language and data.domain");
}

std::vector<Task> tasks_of_predictions(const fs::path& predictions) {
  std::error_code error;
  const bool is_folder = fs::is_directory(predictions, error);
  std::unique_ptr<ZipReader> archive;
  std::vector<std::string> names;
  if (is_folder) {
    names = files_below(predictions);
  } else if (predictions.extension() == ".zip") {
    archive = std::make_unique<ZipReader>(predictions);
    for (const ZipEntry& entry : archive->entries()) names.push_back(entry.name);
  } else {
    names = {predictions.generic_string()};
  }
  std::vector<Task> tasks;
  for (const Task task : all_tasks)
    if (std::any_of(names.begin(), names.end(), [&](const std::string& name) {
          return (is_lines(name) || names.size() == 1) && says_task(name, task);
        }))
      tasks.push_back(task);
  if (is_folder && tasks.empty())  // the folder may be DIR/subtask_3
    for (const Task task : all_tasks)
      if (is_in_folder_of_task(predictions.generic_string() + "/", task)) tasks.push_back(task);
  if (!tasks.empty()) return tasks;
  if (names.size() > 1) std::erase_if(names, [](const auto& name) { return !is_lines(name); });
  if (names.size() != 1) return {};
  if (!archive)
    return tasks_of_line(read_input(is_folder ? predictions / names[0] : predictions, list_bytes));
  const TemporaryDirectory scratch;
  for (std::size_t i = 0; i < archive->entries().size(); ++i)
    if (archive->entries()[i].name == names[0])
      return tasks_of_line(read_file(archive->extract(i, scratch.path()), list_bytes));
  return {};
}

fs::path find_predictions(const fs::path& predictions, const WantedPredictions& wanted,
                          const fs::path& scratch) {
  std::error_code error;
  if (fs::is_directory(predictions, error))
    return predictions / choose_predictions(files_below(predictions), wanted, predictions.string());
  if (predictions.extension() == ".zip") return extract_predictions(predictions, wanted, scratch);
  return predictions;
}

}  // namespace lockstep::dimabsa
