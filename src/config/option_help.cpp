// Option tables as text for the terminal.
#include "config/option_help.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "config/tables.h"
#include "config/value.h"

namespace lockstep {
namespace {

constexpr std::size_t kWidestName = 40;  // longer names get a line of their own
constexpr std::size_t kNarrowestText = 24;

// Characters as a terminal counts them: bytes that start one in UTF-8.
std::size_t columns(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

struct Row {
  std::string name;
  std::string text;
  std::string note{};  // on lines of its own below the text
};

std::vector<std::string> wrap(const std::string& text, std::size_t width) {
  std::vector<std::string> lines;
  std::string line;
  for (const std::string& word : split(text, ' ')) {
    if (!line.empty() && columns(line) + 1 + columns(word) > width)
      lines.push_back(std::exchange(line, {}));
    line += line.empty() ? word : cat(" ", word);
  }
  lines.push_back(line);
  return lines;
}

// "  name   text", the text wrapped in its column.
std::string row_lines(const Row& row, std::size_t indent, std::size_t width) {
  const std::size_t room = width > indent + kNarrowestText ? width - indent : kNarrowestText;
  std::string lines = cat("  ", row.name);
  std::size_t used = columns(lines);
  std::vector<std::string> texts = wrap(row.text, room);
  if (!row.note.empty())
    for (std::string& line : wrap(row.note, room)) texts.push_back(std::move(line));
  for (const std::string& line : texts) {
    if (used + 2 > indent) {
      lines += "\n";
      used = 0;
    }
    lines += cat(std::string(indent - used, ' '), line);
    used = indent;
  }
  return lines + "\n";
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
  std::size_t longest = 0;
  for (const auto& [title, rows] : sections)
    for (const Row& row : rows)
      if (columns(row.name) <= kWidestName) longest = std::max(longest, columns(row.name));
  const std::size_t indent = longest + 4;
  std::string text;
  for (const auto& [title, rows] : sections) {
    text += cat(text.empty() ? "" : "\n", title, "\n");
    for (const Row& row : rows)
      text += row_lines(row, indent, static_cast<std::size_t>(std::max(width, 1)));
  }
  return text;
}

}  // namespace lockstep
