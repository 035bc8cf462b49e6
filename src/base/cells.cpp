#include "base/cells.h"

#include <algorithm>
#include <array>
#include <span>

#include "base/utf8.h"

namespace lockstep {
namespace {

struct Range {
  char32_t first, last;
};

// Unicode 15: East Asian Width W and F, in ranges as large as what is unassigned allows.
constexpr std::array wide{
    Range{0x1100, 0x115F},   Range{0x231A, 0x231B},   Range{0x2329, 0x232A},
    Range{0x23E9, 0x23EC},   Range{0x23F0, 0x23F0},   Range{0x23F3, 0x23F3},
    Range{0x25FD, 0x25FE},   Range{0x2614, 0x2615},   Range{0x2648, 0x2653},
    Range{0x267F, 0x267F},   Range{0x2693, 0x2693},   Range{0x26A1, 0x26A1},
    Range{0x26AA, 0x26AB},   Range{0x26BD, 0x26BE},   Range{0x26C4, 0x26C5},
    Range{0x26CE, 0x26CE},   Range{0x26D4, 0x26D4},   Range{0x26EA, 0x26EA},
    Range{0x26F2, 0x26F3},   Range{0x26F5, 0x26F5},   Range{0x26FA, 0x26FA},
    Range{0x26FD, 0x26FD},   Range{0x2705, 0x2705},   Range{0x270A, 0x270B},
    Range{0x2728, 0x2728},   Range{0x274C, 0x274C},   Range{0x274E, 0x274E},
    Range{0x2753, 0x2755},   Range{0x2757, 0x2757},   Range{0x2795, 0x2797},
    Range{0x27B0, 0x27B0},   Range{0x27BF, 0x27BF},   Range{0x2B1B, 0x2B1C},
    Range{0x2B50, 0x2B50},   Range{0x2B55, 0x2B55},   Range{0x2E80, 0x303E},
    Range{0x3041, 0x4DBF},   Range{0x4E00, 0xA4CF},   Range{0xA960, 0xA97F},
    Range{0xAC00, 0xD7A3},   Range{0xF900, 0xFAFF},   Range{0xFE10, 0xFE19},
    Range{0xFE30, 0xFE6F},   Range{0xFF01, 0xFF60},   Range{0xFFE0, 0xFFE6},
    Range{0x16FE0, 0x18DFF}, Range{0x1AFF0, 0x1B2FF}, Range{0x1F004, 0x1F004},
    Range{0x1F0CF, 0x1F0CF}, Range{0x1F18E, 0x1F18E}, Range{0x1F191, 0x1F19A},
    Range{0x1F200, 0x1F320}, Range{0x1F32D, 0x1F335}, Range{0x1F337, 0x1F37C},
    Range{0x1F37E, 0x1F393}, Range{0x1F3A0, 0x1F3CA}, Range{0x1F3CF, 0x1F3D3},
    Range{0x1F3E0, 0x1F3F0}, Range{0x1F3F4, 0x1F3F4}, Range{0x1F3F8, 0x1F43E},
    Range{0x1F440, 0x1F440}, Range{0x1F442, 0x1F4FC}, Range{0x1F4FF, 0x1F53D},
    Range{0x1F54B, 0x1F54E}, Range{0x1F550, 0x1F567}, Range{0x1F57A, 0x1F57A},
    Range{0x1F595, 0x1F596}, Range{0x1F5A4, 0x1F5A4}, Range{0x1F5FB, 0x1F64F},
    Range{0x1F680, 0x1F6C5}, Range{0x1F6CC, 0x1F6CC}, Range{0x1F6D0, 0x1F6D2},
    Range{0x1F6D5, 0x1F6DF}, Range{0x1F6EB, 0x1F6EC}, Range{0x1F6F4, 0x1F6FC},
    Range{0x1F7E0, 0x1F7F0}, Range{0x1F90C, 0x1F93A}, Range{0x1F93C, 0x1F945},
    Range{0x1F947, 0x1F9FF}, Range{0x1FA70, 0x1FAFF}, Range{0x20000, 0x3FFFD},
};

// What takes no cell: marks on the character before, and what steers joining and direction. Not
// all scripts' marks are here; a terminal that finds another one shows a question mark.
constexpr std::array none{
    Range{0x0300, 0x036F},   Range{0x0483, 0x0489}, Range{0x0591, 0x05BD}, Range{0x05BF, 0x05BF},
    Range{0x05C1, 0x05C2},   Range{0x05C4, 0x05C5}, Range{0x05C7, 0x05C7}, Range{0x0600, 0x0605},
    Range{0x0610, 0x061C},   Range{0x064B, 0x065F}, Range{0x0670, 0x0670}, Range{0x06D6, 0x06DD},
    Range{0x06DF, 0x06E4},   Range{0x06E7, 0x06E8}, Range{0x06EA, 0x06ED}, Range{0x0711, 0x0711},
    Range{0x0730, 0x074A},   Range{0x07A6, 0x07B0}, Range{0x0900, 0x0902}, Range{0x093A, 0x093A},
    Range{0x093C, 0x093C},   Range{0x0941, 0x0948}, Range{0x094D, 0x094D}, Range{0x0951, 0x0957},
    Range{0x0E31, 0x0E31},   Range{0x0E34, 0x0E3A}, Range{0x0E47, 0x0E4E}, Range{0x1160, 0x11FF},
    Range{0x180B, 0x180F},   Range{0x1AB0, 0x1AFF}, Range{0x1DC0, 0x1DFF}, Range{0x200B, 0x200F},
    Range{0x2028, 0x202E},   Range{0x2060, 0x206F}, Range{0x20D0, 0x20FF}, Range{0x302A, 0x302D},
    Range{0x3099, 0x309A},   Range{0xD7B0, 0xD7FF}, Range{0xFB1E, 0xFB1E}, Range{0xFE00, 0xFE0F},
    Range{0xFE20, 0xFE2F},   Range{0xFEFF, 0xFEFF}, Range{0xFFF0, 0xFFFB}, Range{0x1F3FB, 0x1F3FF},
    Range{0xE0000, 0xE0FFF},
};

bool among(std::span<const Range> ranges, char32_t character) {
  const auto after =
      std::upper_bound(ranges.begin(), ranges.end(), character,
                       [](char32_t value, const Range& range) { return value < range.first; });
  return after != ranges.begin() && character <= std::prev(after)->last;
}

bool is_control(char32_t character) {
  return character < 0x20 || (character >= 0x7F && character < 0xA0);
}

}  // namespace

std::string clean_cells(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  while (!text.empty()) {
    const CodePoint point = next_code_point(text);
    text.remove_prefix(point.length);
    if (is_control(point.value)) {
      clean += ' ';
    } else if (!among(none, point.value)) {
      append_utf8(clean, point.value);
    }
  }
  return clean;
}

int cells_of(char32_t character) { return among(wide, character) ? 2 : 1; }

int cells_of(std::string_view text) {
  int cells = 0;
  while (!text.empty()) {
    const CodePoint point = next_code_point(text);
    text.remove_prefix(point.length);
    cells += cells_of(point.value);
  }
  return cells;
}

std::string cut_cells(std::string_view text, int width, std::string_view mark) {
  if (width <= 0) return "";
  if (cells_of(text) <= width) return std::string(text);
  int left = width - cells_of(mark);
  std::string cut;
  while (left > 0) {
    const CodePoint point = next_code_point(text);
    left -= cells_of(point.value);
    if (left < 0) break;
    cut += text.substr(0, point.length);
    text.remove_prefix(point.length);
  }
  return cells_of(mark) <= width ? cut + std::string(mark) : cut;
}

std::string fill_cells(std::string_view text, int width, std::string_view mark) {
  std::string cut = cut_cells(text, width, mark);
  return cut + std::string(static_cast<std::size_t>(std::max(0, width - cells_of(cut))), ' ');
}

std::string fill_cells_left(std::string_view text, int width, std::string_view mark) {
  const std::string cut = cut_cells(text, width, mark);
  return std::string(static_cast<std::size_t>(std::max(0, width - cells_of(cut))), ' ') + cut;
}

std::string wrap_cells(std::string_view text, int width) {
  std::string wrapped;
  width = std::max(width, 2);  // a wide character must fit
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
