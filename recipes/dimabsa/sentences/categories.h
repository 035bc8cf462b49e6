// The categories that a domain has, from a file.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::dimabsa {

// One a line, in their order. Spaces around a line, blank lines and a repeated category (without
// regard to case) count for nothing. Throws Error if there is no category; for text that is not
// UTF-8 or has a tab, it names the line.
std::vector<std::string> parse_categories(std::string_view text, const std::string& name);
std::vector<std::string> read_categories(const std::filesystem::path& path);

// Looks categories up without regard to case, as the scorer compares them.
class Categories {
 public:
  explicit Categories(std::vector<std::string> names);
  // As the list writes it; nullptr: it is not there.
  const std::string* find(const std::string& category) const;
  std::string nearest(const std::string& category) const;  // "": none is near
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_;
  std::map<std::string, std::size_t> by_lower_;
};

}  // namespace lockstep::dimabsa
