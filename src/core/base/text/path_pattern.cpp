// Finds all folders that match the first parts of the pattern, and then those that match one more
// part. glob() of the C library recurses for each part, and follows every path through links.
#include "core/base/text/path_pattern.h"

#include <fnmatch.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

#include "core/base/error.h"
#include "core/base/text/text.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

struct Place {
  // The path of a folder, with a slash at its end. Empty for the current folder.
  std::string path;
  bool is_link = false;
};

// The name in a part without `*`, `?` and `[`. Nothing if the part has one of them.
std::optional<std::string> literal(const std::string& part) {
  std::string name;
  for (std::size_t i = 0; i < part.size(); ++i) {
    if (std::string_view("*?[").find(part[i]) != std::string_view::npos) return std::nullopt;
    if (part[i] == '\\' && i + 1 < part.size()) ++i;
    name += part[i];
  }
  return name;
}

void add_named(const std::string& folder, const std::string& name, std::vector<Place>& found) {
  struct stat info {};
  const std::string path = folder + name;
  if (::lstat(path.c_str(), &info) == 0) found.push_back({path, S_ISLNK(info.st_mode)});
}

void add_matching(const std::string& folder, const std::string& part, std::vector<Place>& found) {
  std::error_code error;
  for (fs::directory_iterator entry(folder.empty() ? "." : folder, error), end;
       !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    std::error_code ignored;
    if (::fnmatch(part.c_str(), name.c_str(), FNM_PERIOD) == 0)
      found.push_back({folder + name, entry->is_symlink(ignored)});
  }
}

// Keeps the folders among the places, each only once.
std::vector<Place> only_folders(std::vector<Place> places) {
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    return std::tie(a.is_link, a.path) < std::tie(b.is_link, b.path);
  });
  std::set<std::pair<dev_t, ino_t>> seen;
  std::vector<Place> folders;
  for (Place& place : places) {
    struct stat info {};
    if (::stat(place.path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) continue;
    if (seen.emplace(info.st_dev, info.st_ino).second) folders.push_back({place.path + "/"});
  }
  return folders;
}

}  // namespace

void check_path_pattern(const std::string& pattern) {
  if (pattern.size() > most_path_pattern_bytes)
    throw Error(cat("a pattern may have ", most_path_pattern_bytes, " bytes, but one has ",
                    pattern.size(), ": ", pattern),
                "name the folder that the files lie in");
}

std::vector<std::string> paths_matching(const std::string& pattern) {
  check_path_pattern(pattern);
  std::vector<std::string> parts = split(pattern, '/');
  const bool folders_alone = parts.size() > 1 && parts.back().empty();
  std::vector<Place> places{{pattern.starts_with('/') ? "/" : ""}};
  std::erase(parts, "");
  for (std::size_t i = 0; i < parts.size() && !places.empty(); ++i) {
    std::vector<Place> found;
    const auto name = literal(parts[i]);
    for (const Place& place : places) {
      if (name)
        add_named(place.path, *name, found);
      else
        add_matching(place.path, parts[i], found);
    }
    const bool last = i + 1 == parts.size();
    places = last && !folders_alone ? std::move(found) : only_folders(std::move(found));
  }
  std::vector<std::string> paths;
  for (Place& place : places)
    if (!place.path.empty()) paths.push_back(std::move(place.path));
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace lockstep
