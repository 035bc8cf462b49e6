#include "cli/bare_keys.h"

#include "base/error.h"
#include "base/text.h"

#include <algorithm>

namespace lockstep::cli {
namespace {

// All that may stand before the =: the group's keys also without it.
std::vector<std::string> keys_with_group(const RunSetup& setup, const std::string& prefix) {
  std::vector<std::string> keys;
  for (const std::string& key : setup.options->table.keys())
    if (key.starts_with(prefix)) keys.push_back(key.substr(prefix.size()));
  for (const OptionTable* table : setup.tables())
    for (std::string& key : table->keys()) keys.push_back(std::move(key));
  return keys;
}

}  // namespace

std::vector<std::string> with_group(const RunSetup& setup, const std::string& group,
                                    std::vector<std::string> assignments) {
  const std::string prefix = group + ".";
  for (std::string& assignment : assignments) {
    const std::string key = assignment.substr(0, assignment.find('='));
    if (setup.options->table.has(prefix + key)) {
      assignment = prefix + assignment;
      continue;
    }
    const auto tables = setup.tables();
    const bool known = std::any_of(tables.begin(), tables.end(),
                                   [&](const OptionTable* table) { return table->has(key); });
    const std::string near = known ? "" : nearest(key, keys_with_group(setup, prefix));
    if (!near.empty())
      throw Error(cat(key, " is not an option (argument ", assignment, ")"),
                  cat("did you mean ", near, "?"));
  }
  return assignments;
}

}  // namespace lockstep::cli
