// Looks for predictions in folders and archives.
#include "recipes/dimabsa/sentences/find_predictions.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/text.h"
#include "media/zip_reader.h"
#include "recipes/dimabsa/sentences/file_name.h"

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
        "name the file itself: predictions=FILE.jsonl");
  std::vector<std::string> shown = candidates;
  for (std::string& name : shown) name = printable(name);
  throw Error(
      cat(where, " holds ", candidates.size(), " files that could be meant: ", join(shown, ", ")),
      "name the file itself: predictions=FILE.jsonl, or set data.language and data.domain");
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
