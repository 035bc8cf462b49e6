#include "tools/cli/plan/bare_keys.h"

#include "core/base/error.h"
#include "core/base/text/text.h"

#include <algorithm>

namespace lockstep::cli {
namespace {

// All that may stand before the =: the groups' keys also without their group.
std::vector<std::string> possible_keys(const RunSetup& setup, const BareKeys& bare) {
  std::vector<std::string> keys;
  for (const std::string& group : bare.groups)
    for (const std::string& key : setup.options->table.keys())
      if (key.starts_with(group + ".")) keys.push_back(key.substr(group.size() + 1));
  for (const OptionTable* table : setup.tables())
    for (std::string& key : table->keys()) keys.push_back(std::move(key));
  return keys;
}

bool is_key(const RunSetup& setup, const std::string& key) {
  const auto tables = setup.tables();
  return std::any_of(tables.begin(), tables.end(),
                     [&](const OptionTable* table) { return table->has(key); });
}

// "predict." where the key is one of that group's; "": of none.
std::string prefix_of(const RunSetup& setup, const BareKeys& bare, const std::string& key) {
  std::string found;
  for (const std::string& group : bare.groups) {
    const std::string prefix = group + ".";
    if (!setup.options->table.has(prefix + key)) continue;
    if (!found.empty())
      throw Error(cat(key, " may be ", found, key, " or ", prefix, key),
                  "write the one that you mean in full");
    found = prefix;
  }
  return found;
}

}  // namespace

std::vector<std::string> with_groups(const RunSetup& setup, const BareKeys& bare,
                                     std::vector<std::string> assignments,
                                     const ExplainKey& explain) {
  if (bare.groups.empty()) return assignments;
  for (std::string& assignment : assignments) {
    const std::string key = assignment.substr(0, assignment.find('='));
    const bool known = is_key(setup, key);
    if (known && bare.options_first) continue;
    if (const std::string prefix = prefix_of(setup, bare, key); !prefix.empty()) {
      assignment = prefix + assignment;
      continue;
    }
    const std::string value = assignment.substr(assignment.find('=') + 1);
    if (known || explain(key, value)) continue;  // apply_config says what it is
    const std::string near = nearest(key, possible_keys(setup, bare));
    if (!near.empty())
      throw Error(cat(key, " is not an option (argument ", assignment, ")"),
                  cat("did you mean ", near, "?"));
  }
  return assignments;
}

}  // namespace lockstep::cli
