// Several option tables, accessed as one.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/explain_key.h"
#include "core/config/options.h"

namespace lockstep::detail {

// The options of one group. The group is the part of a key before the first dot, and is empty for
// keys without a dot.
struct OptionGroup {
  struct Member {
    OptionTable* table;
    OptionInfo info;
  };
  std::string name;
  std::vector<Member> members;
};

// "from preset small; the default is 0.001". Empty if the present value is the default.
std::string source_note(const OptionGroup::Member& member);

class Tables {
 public:
  // Throws Error if two tables have the same key, or if a key of one is a group of another.
  explicit Tables(std::span<OptionTable* const> tables, ExplainKey explain = {});

  // The table that has the key, or null.
  OptionTable* find(std::string_view key) const;
  // The same, but throws Error for an unknown key: the one that `explain` returns, or else one with
  // the nearest key.
  OptionTable& table_of(std::string_view key, const std::string& value = "") const;
  std::string nearest_key(std::string_view word) const;  // empty if none is near
  bool is_group(std::string_view name) const;
  // Throws Error for an unknown preset. It names the nearest preset and lists all.
  const Preset& preset(std::string_view name) const;

  std::vector<Preset> presets() const;
  // The groups in the order of the tables. The group without a name comes first.
  std::vector<OptionGroup> groups() const;

 private:
  std::span<OptionTable* const> tables_;
  ExplainKey explain_;
  std::vector<std::string> keys_, sorted_;  // the keys of all tables: in order, and sorted by name
};

}  // namespace lockstep::detail
