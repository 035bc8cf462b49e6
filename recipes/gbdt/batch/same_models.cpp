// Finds settings of a batch that made the same models.
#include <array>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "core/base/text/text.h"
#include "planning/words.h"
#include "recipes/gbdt/batch/tables.h"

namespace lockstep::gbdt {
namespace {

// Hashes of the models that one setting made. The key is the window's symbol, start and end.
using TreeHashes = std::map<std::array<std::string, 3>, std::string>;

std::string same_models_line(const std::vector<std::string>& settings, std::size_t same,
                             std::size_t all) {
  const std::vector<std::string> first(settings.begin(), settings.end() - 1);
  return cat("settings ", join(first, ", "), " and ", settings.back(), " made the same models in ",
             same, " of ", count_of(static_cast<std::int64_t>(all), "window"), "\n");
}

// For the windows that both settings have: the number with equal models, and the number of all.
std::pair<std::size_t, std::size_t> equal_models(const TreeHashes& a, const TreeHashes& b) {
  std::size_t equal = 0, both = 0;
  for (const auto& [window, hash] : a)
    if (const auto other = b.find(window); other != b.end()) {
      ++both;
      equal += other->second == hash ? 1 : 0;
    }
  return {equal, both};
}

}  // namespace

std::string same_models_text(const BatchRecords& records) {
  constexpr std::size_t most_compared = 100, most_lines = 10;
  std::map<std::string, TreeHashes> by_setting;
  for (const WindowRecord& window : records.windows) {
    if (window.status != "success") continue;
    const std::string hash =
        window.metadata.value("model", nlohmann::json::object()).value("trees_hash", "");
    if (!hash.empty())
      by_setting[setting_text(window)][{window.symbol, window.start, window.end}] = hash;
  }
  std::map<TreeHashes, std::vector<std::string>> same;
  for (const auto& [setting, models] : by_setting) same[models].push_back(setting);
  std::vector<std::string> lines;
  for (const auto& [models, settings] : same)
    if (settings.size() > 1)
      lines.push_back(same_models_line(settings, models.size(), models.size()));
  for (auto a = same.begin(); a != same.end() && same.size() <= most_compared; ++a)
    for (auto b = std::next(a); b != same.end(); ++b) {
      const auto [equal, both] = equal_models(a->first, b->first);
      if (equal * 2 > both)
        lines.push_back(same_models_line({a->second[0], b->second[0]}, equal, both));
    }
  const std::size_t more = lines.size() > most_lines ? lines.size() - most_lines : 0;
  lines.resize(lines.size() - more);
  return cat(join(lines, ""), more > 0 ? cat("and ", more, " more such pairs of settings\n") : "");
}

}  // namespace lockstep::gbdt
