// Reads categories and finds them by name.
#include "recipes/dimabsa/sentences/categories.h"

#include <set>
#include <utility>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "core/base/text/utf8.h"
#include "recipes/dimabsa/sentences/letters.h"

namespace lockstep::dimabsa {

std::vector<std::string> parse_categories(std::string_view text, const std::string& name) {
  std::vector<std::string> categories;
  std::set<std::string> seen;
  std::int64_t number = 0;
  for (const std::string& line : split(without_byte_order_mark(text), '\n')) {
    ++number;
    const std::string category = trim(line);
    if (category.empty()) continue;
    if (invalid_bytes(category) > 0)
      throw Error(cat(name, ":", number, ": the category is not valid UTF-8"),
                  "save the file as UTF-8");
    if (category.find('\t') != category.npos)
      throw Error(cat(name, ":", number, ": a category holds a tab"),
                  "write one category a line, as FOOD#QUALITY, and nothing beside it");
    if (seen.insert(lower_case(category)).second) categories.push_back(category);
  }
  if (categories.empty())
    throw Error(cat(name, " holds no category"), "write one category a line, as FOOD#QUALITY");
  return categories;
}

std::vector<std::string> read_categories(const std::filesystem::path& path) {
  return parse_categories(read_input(path, list_bytes), path.string());
}

Categories::Categories(std::vector<std::string> names) : names_(std::move(names)) {
  for (std::size_t i = 0; i < names_.size(); ++i) by_lower_.emplace(lower_case(names_[i]), i);
}

const std::string* Categories::find(const std::string& category) const {
  const auto found = by_lower_.find(lower_case(category));
  return found == by_lower_.end() ? nullptr : &names_[found->second];
}

std::string Categories::nearest(const std::string& category) const {
  std::vector<std::string> lower;
  for (const std::string& name : names_) lower.push_back(lower_case(name));
  const std::string* const near = find(lockstep::nearest(lower_case(category), lower));
  return near ? *near : "";
}

}  // namespace lockstep::dimabsa
