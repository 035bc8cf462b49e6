#include "core/base/text/cells.h"

#include <utf8proc.h>

#include <algorithm>

#include "core/base/text/printable.h"
#include "core/base/text/text.h"
#include "core/base/text/utf8.h"

namespace lockstep {
namespace {

int cells_of_point(const CodePoint& point) {
  constexpr int byte_cells = 4;  // an invalid byte is printed as \x1b
  return point.valid ? cells_of(point.value) : byte_cells * static_cast<int>(point.length);
}

std::string spaces(int count) {
  return std::string(static_cast<std::size_t>(std::max(0, count)), ' ');
}

}  // namespace

std::string clean_cells(std::string_view text) {
  const std::string shown = printable(std::string(text));
  std::string clean;
  clean.reserve(shown.size());
  for (std::string_view rest = shown; !rest.empty();) {
    const CodePoint point = next_code_point(rest);
    if (cells_of(point.value) > 0) clean += rest.substr(0, point.length);
    rest.remove_prefix(point.length);
  }
  return clean;
}

int cells_of(char32_t character) {
  const int escape = escape_length(character);
  return escape > 0 ? escape : utf8proc_charwidth(static_cast<utf8proc_int32_t>(character));
}

int cells_of(std::string_view text) {
  int cells = 0;
  while (!text.empty()) {
    const CodePoint point = next_code_point(text);
    text.remove_prefix(point.length);
    cells += cells_of_point(point);
  }
  return cells;
}

std::string cut_cells(std::string_view text, int width, std::string_view mark) {
  if (width <= 0) return "";
  if (cells_of(text) <= width) return std::string(text);
  int left = width - cells_of(mark);
  std::string cut;
  while (!text.empty()) {
    const CodePoint point = next_code_point(text);
    left -= cells_of_point(point);
    if (left < 0) break;
    cut += text.substr(0, point.length);
    text.remove_prefix(point.length);
  }
  return cells_of(mark) <= width ? cut + std::string(mark) : cut;
}

std::string pad_cells(std::string_view text, int width) {
  return std::string(text) + spaces(width - cells_of(text));
}

std::string pad_cells_left(std::string_view text, int width) {
  return spaces(width - cells_of(text)) + std::string(text);
}

std::string fill_cells(std::string_view text, int width, std::string_view mark) {
  return pad_cells(cut_cells(text, width, mark), width);
}

std::string fill_cells_left(std::string_view text, int width, std::string_view mark) {
  return pad_cells_left(cut_cells(text, width, mark), width);
}

std::string hang_cells(std::string_view head, std::string_view text, int width) {
  const int indent = cells_of(head);
  std::string hung(head);
  int used = indent;
  bool fresh = true;  // the line holds only the head or the indent
  for (const std::string& word : split(text, ' ')) {
    if (!fresh && used + 1 + cells_of(word) > width) {
      hung += "\n" + spaces(indent);
      used = indent;
      fresh = true;
    }
    if (!fresh) hung += ' ';
    hung += word;
    used += cells_of(word) + (fresh ? 0 : 1);
    fresh = false;
  }
  return hung + "\n";
}

std::string wrap_cells(std::string_view text, int width) {
  std::string wrapped;
  width = std::max(width, 2);  // room for one wide character
  while (true) {
    const std::string_view line = text.substr(0, text.find('\n'));
    for (std::string_view rest = line; !rest.empty();) {
      std::string piece = cut_cells(rest, width);
      const std::size_t space = piece.rfind(' ');
      if (piece.size() < rest.size() && rest[piece.size()] != ' ' && space != piece.npos &&
          space > 0 && piece.find_first_not_of(' ') < space)
        piece.resize(space);
      rest.remove_prefix(piece.size());
      if (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
      wrapped += piece;
      if (!rest.empty()) wrapped += '\n';
    }
    if (line.size() == text.size()) return wrapped;
    wrapped += '\n';
    text.remove_prefix(line.size() + 1);
  }
}

}  // namespace lockstep
