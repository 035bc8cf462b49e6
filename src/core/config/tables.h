// Access to several option tables as if they were one.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/explain_key.h"
#include "core/config/options.h"

namespace lockstep::detail {

// The options of one group. The name of the group is the part of their keys before the first dot.
// It is empty for keys without a dot.
struct OptionGroup {
  struct Member {
    OptionTable* table;
    OptionInfo info;
  };
  std::string name;
  std::vector<Member> members;
};

// Returns the source of the present value: "from preset small; the default is 0.001". Empty if the
// present value is the default.
std::string source_note(const OptionGroup::Member& member);

class Tables {
 public:
  // Throws Error if two tables have the same key, or if a key of one table is the name of a group
  // of another.
  explicit Tables(std::span<OptionTable* const> tables, ExplainKey explain = {});

  // Returns the table that has the key, or null.
  OptionTable* find(std::string_view key) const;
  // The same, but throws Error for an unknown key. This is the Error that `explain` returns. If
  // `explain` returns nothing, it is an Error with the most similar key.
  OptionTable& table_of(std::string_view key, const std::string& value = "") const;
  // the most similar key; empty if none is similar
  std::string nearest_key(std::string_view word) const;
  bool is_group(std::string_view name) const;
  // Throws Error for an unknown preset. The message names the most similar preset and lists all.
  const Preset& preset(std::string_view name) const;

  std::vector<Preset> presets() const;
  // The groups in the order of the tables. The group without a name comes first.
  std::vector<OptionGroup> groups() const;

 private:
  std::span<OptionTable* const> tables_;
  ExplainKey explain_;
  // the keys of all tables, in the tables' order and sorted
  std::vector<std::string> keys_, sorted_;
};

}  // namespace lockstep::detail
