// The categories of a domain, from a file.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::dimabsa {

// The file has one category per line; their order is kept. Spaces around a line, blank lines and a
// repeated category (ignoring case) are ignored. Throws Error if there is no category. For text
// that is not UTF-8 or has a tab, the Error names the line.
std::vector<std::string> parse_categories(std::string_view text, const std::string& name);
std::vector<std::string> read_categories(const std::filesystem::path& path);

// Finds categories ignoring case, as the scorer compares them.
class Categories {
 public:
  explicit Categories(std::vector<std::string> names);
  // The category in the list's spelling; nullptr if it is not in the list.
  const std::string* find(const std::string& category) const;
  std::string nearest(const std::string& category) const;  // "": none is near
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_;
  std::map<std::string, std::size_t> by_lower_;
};

}  // namespace lockstep::dimabsa
