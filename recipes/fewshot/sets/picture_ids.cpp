#include "recipes/fewshot/sets/picture_ids.h"

#include <charconv>
#include <optional>
#include <set>

namespace lockstep::fewshot {
namespace {

std::optional<std::int64_t> wanted_id(const std::filesystem::path& path,
                                      const std::map<std::string, std::int64_t>& known) {
  if (const auto found = known.find(path.filename().string()); found != known.end())
    return found->second;
  const std::string stem = path.stem().string();
  std::int64_t number = 0;
  const char* const end = stem.data() + stem.size();
  const auto [rest, error] = std::from_chars(stem.data(), end, number);
  if (error == std::errc() && rest == end && number >= 0) return number;
  return std::nullopt;
}

}  // namespace

std::vector<std::int64_t> picture_ids(const std::vector<std::filesystem::path>& paths,
                                      const std::map<std::string, std::int64_t>& known) {
  std::vector<std::optional<std::int64_t>> ids;
  std::set<std::int64_t> taken;
  for (const std::filesystem::path& path : paths) {
    const std::optional<std::int64_t> id = wanted_id(path, known);
    ids.push_back(id && taken.insert(*id).second ? id : std::nullopt);
  }
  std::vector<std::int64_t> result;
  std::int64_t next = 1;
  for (const std::optional<std::int64_t>& id : ids) {
    if (!id)
      while (!taken.insert(next).second) ++next;
    result.push_back(id.value_or(next));
  }
  return result;
}

}  // namespace lockstep::fewshot
