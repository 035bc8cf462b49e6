#include "tools/cli/plan/bare_keys.h"

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "tools/cli/words/translation/name_words.h"
#include "tools/cli/words/vocabulary.h"

#include <algorithm>

namespace lockstep::cli {
namespace {

std::vector<std::string> keys_of_setup(const RunSetup& setup) {
  std::vector<std::string> keys;
  for (const OptionTable* table : setup.tables())
    for (std::string& key : table->keys()) keys.push_back(std::move(key));
  return keys;
}

// Whether the command reads a run. The run keeps its training options.
bool reads_run(const BareKeys& bare) {
  const std::string& group = bare.groups.front();
  return !bare.options_first && (group == "evaluate" || group == "predict");
}

// The keys that the command accepts.
std::vector<std::string> keys_taken(const RunSetup& setup, const BareKeys& bare) {
  std::vector<std::string> keys = keys_of_setup(setup);
  if (!reads_run(bare)) return keys;
  Vocabulary known;
  for (const OptionTable* table : setup.tables()) known.add(*table);
  std::erase_if(keys, [&](const std::string& key) {
    return key != "run.root" && !is_for_reading(known, bare.groups.front(), key);
  });
  return keys;
}

// The same key in other groups. If there is none, the key most similar to the typed one.
std::string meant_by(const RunSetup& setup, const BareKeys& bare, const std::string& typed) {
  std::vector<std::string> keys = keys_taken(setup, bare);
  const std::vector<std::string> in_a_group = keys_in_a_group(keys, typed);
  if (!in_a_group.empty()) return join(in_a_group, " or ");
  for (const std::string& group : bare.groups)
    for (const std::string& key : setup.options->table.keys())
      if (key.starts_with(group + ".")) keys.push_back(key.substr(group.size() + 1));
  return nearest(typed, keys);
}

bool is_key(const RunSetup& setup, const std::string& key) {
  const auto tables = setup.tables();
  return std::any_of(tables.begin(), tables.end(),
                     [&](const OptionTable* table) { return table->has(key); });
}

// The group of the key with a dot, such as "predict.". "" if the key is in none of the command's
// groups.
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
    if (known) continue;
    std::vector<std::string> in_groups = keys_in_a_group(keys_taken(setup, bare), key);
    std::erase_if(in_groups, [](const std::string& each) { return each.starts_with("init."); });
    const bool is_in_a_group = !bare.options_first && !in_groups.empty();
    if (!is_in_a_group && explain(key, value)) continue;  // apply_config reports it
    if (const auto kept = keys_in_a_group(keys_of_setup(setup), key);
        reads_run(bare) && in_groups.empty() && !kept.empty())
      throw Error(cat(key, " is not an option (argument ", assignment, ")"),
                  cat("leave it out: ", join(kept, " and "),
                      kept.size() == 1 ? " is a setting" : " are settings",
                      " of training, which the run keeps"));
    const std::string near = meant_by(setup, bare, key);
    if (!near.empty())
      throw Error(cat(key, " is not an option (argument ", assignment, ")"),
                  cat("did you mean ", near, "?"));
  }
  return assignments;
}

}  // namespace lockstep::cli
