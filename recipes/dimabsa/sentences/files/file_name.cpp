// Splits the names of files into their parts.
#include "recipes/dimabsa/sentences/files/file_name.h"

#include <algorithm>
#include <vector>

#include "core/base/text/text.h"

namespace lockstep::dimabsa {
namespace {

bool is_language(const std::string& part) {
  // the shared task's codes with more than three letters
  if (part == "ptbr" || part == "ptmz") return true;
  return part.size() == 3 &&
         std::all_of(part.begin(), part.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

std::optional<Task> task_of(const std::string& part) {
  if (part == "task1") return Task::aspects;
  if (part == "task2") return Task::triplets;
  if (part == "task3") return Task::quadruplets;
  return std::nullopt;
}

bool is_split(const std::string& part) {
  return part == "train" || part == "dev" || part == "test" || part == "trial" || part == "valid";
}

}  // namespace

std::optional<FileName> parse_file_name(const std::filesystem::path& path) {
  std::vector<std::string> parts = split(path.stem().string(), '_');
  FileName name;
  if (parts[0] == "pred" || parts[0] == "gold") {
    name.split = parts[0];
    parts.erase(parts.begin());
  }
  if (parts.size() < 2 || !is_language(parts[0]) || parts[1].empty()) return std::nullopt;
  bool says_more = !name.split.empty();
  name.language = parts[0];
  name.domain = parts[1];
  for (std::size_t i = 2; i < parts.size(); ++i) {
    const auto task = task_of(parts[i]);
    if (task)
      name.task = task;
    else if (is_split(parts[i]))
      name.split = parts[i];
    says_more = says_more || task || is_split(parts[i]) || parts[i] == "alltasks";
  }
  if (!says_more) return std::nullopt;  // in the_reviews.jsonl, "the" is no language
  return name;
}

std::string prediction_name(Task task, const std::string& language, const std::string& domain) {
  return cat("subtask_", number_of(task), "/pred_", language, "_", domain, ".jsonl");
}

int number_of(Task task) { return static_cast<int>(task); }

}  // namespace lockstep::dimabsa
