// Several option tables seen as one.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/explain_key.h"
#include "core/config/options.h"

namespace lockstep::detail {

// Options of one group, the part of their keys before the first dot; "" for keys without one.
struct OptionGroup {
  struct Member {
    OptionTable* table;
    OptionInfo info;
  };
  std::string name;
  std::vector<Member> members;
};

// "from preset small; the default is 0.001": empty if the present value is the default.
std::string source_note(const OptionGroup::Member& member);

class Tables {
 public:
  // Throws Error if two tables have the same key, or one's key is another's group.
  explicit Tables(std::span<OptionTable* const> tables, ExplainKey explain = {});

  // The table that has the key, or null.
  OptionTable* find(std::string_view key) const;
  // Throws the Error of `explain` for the key, or else one naming the nearest key of all tables.
  OptionTable& table_of(std::string_view key, const std::string& value = "") const;
  std::string nearest_key(std::string_view word) const;  // "" if none is near
  bool is_group(std::string_view name) const;
  // Throws Error, which names the nearest preset and lists all.
  const Preset& preset(std::string_view name) const;

  std::vector<Preset> presets() const;
  // Returns the groups in the order of the tables, the nameless group first.
  std::vector<OptionGroup> groups() const;

 private:
  std::span<OptionTable* const> tables_;
  ExplainKey explain_;
  std::vector<std::string> keys_, sorted_;  // keys of all tables: in order, and sorted by name
};

}  // namespace lockstep::detail
