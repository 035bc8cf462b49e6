// Prints option tables for the terminal.
#include "core/config/option_help.h"

#include <algorithm>
#include <utility>

#include "core/base/text/cells.h"
#include "core/base/text/text.h"
#include "core/config/tables.h"
#include "core/config/value.h"

namespace lockstep {
namespace {

constexpr int kWidestName = 40;  // a longer name gets its own line
constexpr int kNarrowestText = 24;

struct Row {
  std::string name;
  std::string text;
  std::string note{};  // printed below the text, on its own lines
};

// Returns "  name   text", with the text wrapped in its column.
std::string row_lines(const Row& row, int indent, int width) {
  const std::string name = "  " + row.name;
  const bool fits = cells_of(name) + 2 <= indent;
  const std::string head = pad_cells(fits ? name : "", indent);
  width = std::max(width, indent + kNarrowestText);
  return cat(fits ? "" : name + "\n", hang_cells(head, row.text, width),
             row.note.empty() ? "" : hang_cells(pad_cells("", indent), row.note, width));
}

std::vector<std::pair<std::string, std::vector<Row>>> all_rows(const detail::Tables& all) {
  std::vector<std::pair<std::string, std::vector<Row>>> sections;
  for (const detail::OptionGroup& group : all.groups()) {
    std::vector<Row> rows;
    for (const auto& member : group.members)
      rows.push_back({cat(member.info.key, "=", member.table->get(member.info.key)),
                      detail::summary(member.info), detail::source_note(member)});
    sections.emplace_back(group.name.empty() ? "options" : group.name, std::move(rows));
  }
  std::vector<Row> presets;
  for (const Preset& preset : all.presets()) presets.push_back({preset.name, preset.meaning});
  if (!presets.empty()) sections.emplace_back("presets (preset=NAME)", std::move(presets));
  return sections;
}

}  // namespace

const char* to_string(OptionType type) {
  switch (type) {
    case OptionType::boolean:
      return "boolean";
    case OptionType::integer:
      return "integer";
    case OptionType::real:
      return "real";
    case OptionType::text:
      return "text";
    case OptionType::choice:
      return "choice";
    case OptionType::duration:
      return "duration";
    case OptionType::list:
      return "list";
  }
  return "";
}

std::string options_text(std::span<OptionTable* const> tables, int width) {
  const auto sections = all_rows(detail::Tables(tables));
  int longest = 0;
  for (const auto& [title, rows] : sections)
    for (const Row& row : rows)
      if (cells_of(row.name) <= kWidestName) longest = std::max(longest, cells_of(row.name));
  const int indent = longest + 4;
  std::string text;
  for (const auto& [title, rows] : sections) {
    text += cat(text.empty() ? "" : "\n", title, "\n");
    for (const Row& row : rows) text += row_lines(row, indent, width);
  }
  return text;
}

}  // namespace lockstep
