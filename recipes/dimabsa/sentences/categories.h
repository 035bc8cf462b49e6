// Reads the categories of a domain from a file, and finds categories by name.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::dimabsa {

// Returns the categories of a file, which has one category on each line, in the order of the file.
// Spaces around a line and blank lines are ignored. A category that differs from an earlier one
// only in case is left out. Throws Error if there is no category. Also throws Error, which names
// the line, if a line is not UTF-8 or has a tab. name: the file, for messages.
std::vector<std::string> parse_categories(std::string_view text, const std::string& name);
std::vector<std::string> read_categories(const std::filesystem::path& path);

// Finds categories without regard to case, because the scorer compares them so.
class Categories {
 public:
  explicit Categories(std::vector<std::string> names);
  // Returns the category in the spelling of the list, or nullptr if it is not in the list.
  const std::string* find(const std::string& category) const;
  std::string nearest(const std::string& category) const;  // empty if none is near
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_;
  std::map<std::string, std::size_t> by_lower_;
};

}  // namespace lockstep::dimabsa
