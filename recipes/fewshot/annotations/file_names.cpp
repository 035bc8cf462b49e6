#include "recipes/fewshot/annotations/file_names.h"

#include <algorithm>
#include <cctype>
#include <system_error>

#include "core/base/error.h"
#include "core/base/text/text.h"

namespace lockstep::fewshot {

namespace fs = std::filesystem;

namespace {

bool has_ending(const fs::path& path, const std::vector<std::string_view>& endings) {
  return !path.filename().native().starts_with("._") &&
         std::find(endings.begin(), endings.end(), in_small_letters(path.extension().string())) !=
             endings.end() &&
         is_file(path);
}

// Iterator: a directory iterator, recursive or not. take: returns false to stop.
template <class Iterator, class Take>
void for_each_ending_in(const fs::path& folder, const std::vector<std::string_view>& endings,
                        std::error_code& error, const Take& take) {
  Iterator entry(folder, error);
  for (; !error && entry != Iterator(); entry.increment(error))
    if (has_ending(entry->path(), endings) && !take(entry->path())) return;
}

template <class Iterator>
std::vector<std::string> list_files(const fs::path& folder,
                                    const std::vector<std::string_view>& endings) {
  std::error_code error;
  std::vector<std::string> names;
  for_each_ending_in<Iterator>(folder, endings, error, [&](const fs::path& path) {
    names.push_back(path.lexically_relative(folder).string());
    return true;
  });
  if (error)
    throw Error(cat("cannot list ", folder.string(), ": ", error.message()),
                "check that you may read the folder");
  std::sort(names.begin(), names.end());
  return names;
}

template <class Iterator>
bool has_any(const fs::path& folder, std::string_view ending) {
  std::error_code ignored;
  bool found = false;
  for_each_ending_in<Iterator>(folder, {ending}, ignored, [&](const fs::path&) {
    found = true;
    return false;
  });
  return found;
}

}  // namespace

std::vector<std::string> files_ending_in(const fs::path& folder,
                                         const std::vector<std::string_view>& endings) {
  return list_files<fs::directory_iterator>(folder, endings);
}

std::vector<std::string> files_below_ending_in(const fs::path& folder,
                                               const std::vector<std::string_view>& endings) {
  return list_files<fs::recursive_directory_iterator>(folder, endings);
}

bool has_file_ending_in(const fs::path& folder, std::string_view ending) {
  return has_any<fs::directory_iterator>(folder, ending);
}

bool has_file_below_ending_in(const fs::path& folder, std::string_view ending) {
  return has_any<fs::recursive_directory_iterator>(folder, ending);
}

std::string in_small_letters(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

}  // namespace lockstep::fewshot
