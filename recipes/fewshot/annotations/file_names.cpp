#include "recipes/fewshot/annotations/file_names.h"

#include <algorithm>
#include <cctype>
#include <system_error>

#include "base/error.h"
#include "base/text.h"

namespace lockstep::fewshot {

namespace fs = std::filesystem;

std::vector<std::string> files_ending_in(const fs::path& folder,
                                         const std::vector<std::string_view>& endings) {
  std::error_code error;
  std::vector<std::string> names;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    std::string ending = entry->path().extension().string();
    std::transform(ending.begin(), ending.end(), ending.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (std::find(endings.begin(), endings.end(), ending) != endings.end() &&
        is_file(entry->path()))
      names.push_back(entry->path().filename().string());
  }
  if (error)
    throw Error(cat("cannot list ", folder.string(), ": ", error.message()),
                "check that you may read the folder");
  std::sort(names.begin(), names.end());
  return names;
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
