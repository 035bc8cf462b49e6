// Reads the categories of a domain from a file, and finds categories by name.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::dimabsa {

// Returns the categories in the text of a file, in their order. Each line has one category. Blank
// lines, and whitespace around a category, are ignored. A category that differs from an earlier one
// only in case is left out. Throws Error if the file has no category. Also throws Error, which
// names the line, if a line is not UTF-8 or has a tab. name: the name of the file, for messages.
std::vector<std::string> parse_categories(std::string_view text, const std::string& name);
std::vector<std::string> read_categories(const std::filesystem::path& path);

// A list of categories. It is searched without regard to case, because the official scorer of
// SemEval 2026, task 3 (DimABSA) ignores case.
class Categories {
 public:
  explicit Categories(std::vector<std::string> names);
  // Returns a pointer to the category in the list, or nullptr if the list does not contain it.
  const std::string* find(const std::string& category) const;
  std::string nearest(const std::string& category) const;  // empty if no name is similar
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_;
  std::map<std::string, std::size_t> by_lower_;
};

}  // namespace lockstep::dimabsa
