// Character classes as `tokenizers` has them: utf8proc's classes with some exceptions.
#include "recipes/dimabsa/tokens/characters.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <span>

#include "core/base/check.h"
#include "core/base/text/utf8.h"

namespace lockstep::dimabsa {
namespace {

struct Range {
  char32_t first, last;
};

bool within(std::span<const Range> ranges, char32_t character) {
  const auto range = std::ranges::lower_bound(ranges, character, {}, &Range::last);
  return range != ranges.end() && range->first <= character;
}

// Marks, punctuation and format characters that Unicode added after version 8. `tokenizers` treats
// them as characters without a class. The ranges also contain other characters, but their results
// do not change.
constexpr auto later = std::to_array<Range>(
    {{0x61D, 0x61D},     {0x7FD, 0x7FD},     {0x890, 0x8E2},     {0x9FD, 0x9FE},
     {0xA76, 0xA76},     {0xAFA, 0xAFF},     {0xB55, 0xB55},     {0xC04, 0xC3C},
     {0xC77, 0xC77},     {0xC84, 0xC84},     {0xD00, 0xD00},     {0xD3B, 0xD3C},
     {0xD81, 0xD81},     {0xEBA, 0xEBA},     {0xECE, 0xECE},     {0x180F, 0x1886},
     {0x1ABF, 0x1ACE},   {0x1B7D, 0x1B7E},   {0x1DF6, 0x1DFB},   {0x2E43, 0x2E5D},
     {0xA82C, 0xA82C},   {0xA8C5, 0xA8C5},   {0xA8FF, 0xA8FF},   {0xA9BD, 0xA9BD},
     {0x10D24, 0x10F89}, {0x11070, 0x11074}, {0x110C2, 0x110CD}, {0x111CF, 0x111CF},
     {0x1123E, 0x11241}, {0x1133B, 0x1133B}, {0x11438, 0x1145E}, {0x11660, 0x1166C},
     {0x116B9, 0x116B9}, {0x1182F, 0x11FFF}, {0x12FF1, 0x13455}, {0x16E97, 0x16F4F},
     {0x16FE2, 0x16FE4}, {0x1CF00, 0x1CF46}, {0x1E000, 0x1E4EF}, {0x1E944, 0x1E95F}});

constexpr auto ideographs = std::to_array<Range>({{0x3400, 0x4DBF},
                                                  {0x4E00, 0x9FFF},
                                                  {0xF900, 0xFAFF},
                                                  {0x20000, 0x2A6DF},
                                                  {0x2A700, 0x2B81F},
                                                  {0x2B920, 0x2CEAF},
                                                  {0x2F800, 0x2FA1F}});

// Letters in circles, brackets and squares. They are alphabetic although their class is symbol.
constexpr auto enclosed = std::to_array<Range>(
    {{0x24B6, 0x24E9}, {0x1F130, 0x1F149}, {0x1F150, 0x1F169}, {0x1F170, 0x1F189}});

bool later_than_tables(char32_t character) { return within(later, character); }

utf8proc_category_t category(char32_t character) {
  switch (character) {  // characters whose class changed after Unicode 8
    case 0x166D:
    case 0x111C9:
      return UTF8PROC_CATEGORY_PO;
    case 0x1734:
      return UTF8PROC_CATEGORY_MN;
    default:
      break;
  }
  if (later_than_tables(character)) return UTF8PROC_CATEGORY_CN;
  return utf8proc_category(static_cast<utf8proc_int32_t>(character));
}

bool category_within(char32_t character, int first, int last) {
  const int found = category(character);
  return found >= first && found <= last;
}

std::u32string decomposed_by(char32_t c, utf8proc_option_t how) {
  if (c < 0x80 || later_than_tables(c)) return {c};
  std::array<utf8proc_int32_t, 32> buffer{};  // U+FDFA gives 18 characters
  int boundary = 0;
  const utf8proc_ssize_t count =
      utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), buffer.data(),
                              static_cast<utf8proc_ssize_t>(buffer.size()), how, &boundary);
  LOCKSTEP_CHECK(count > 0 && count <= static_cast<utf8proc_ssize_t>(buffer.size()));
  return {buffer.begin(), buffer.begin() + count};
}

}  // namespace

Characters characters_of(std::string_view text) {
  LOCKSTEP_CHECK(text.size() <= UINT32_MAX);
  Characters characters;
  characters.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = next_code_point(text.substr(at));
    characters.push_back({point.valid ? point.value : replacement_character,
                          static_cast<std::uint32_t>(at),
                          static_cast<std::uint32_t>(at + point.length)});
    at += point.length;
  }
  return characters;
}

bool is_white(char32_t c) {
  return c == ' ' || (c >= 0x9 && c <= 0xD) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
         c == 0x3000;
}

bool is_control(char32_t c) {
  if (c == '\t' || c == '\n' || c == '\r') return false;
  return category_within(c, UTF8PROC_CATEGORY_CC, UTF8PROC_CATEGORY_CO);
}

bool is_punctuation(char32_t c) {
  if (c < 0x80)
    return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
           (c >= '{' && c <= '~');
  return category_within(c, UTF8PROC_CATEGORY_PC, UTF8PROC_CATEGORY_PO);
}

bool is_mark(char32_t c) { return category(c) == UTF8PROC_CATEGORY_MN; }

bool is_any_mark(char32_t c) {
  return category_within(c, UTF8PROC_CATEGORY_MN, UTF8PROC_CATEGORY_ME);
}

// Word characters as in the regular expressions of `tokenizers`, whose tables are of a newer
// Unicode version.
bool is_word(char32_t c) {
  const utf8proc_category_t found = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return (found >= UTF8PROC_CATEGORY_LU && found <= UTF8PROC_CATEGORY_NL) ||
         found == UTF8PROC_CATEGORY_PC || c == 0x200C || c == 0x200D || within(enclosed, c);
}

bool is_chinese(char32_t c) { return within(ideographs, c); }

std::u32string decomposed(char32_t c) { return decomposed_by(c, UTF8PROC_DECOMPOSE); }

std::u32string compatibly_decomposed(char32_t c) {
  return decomposed_by(
      c, static_cast<utf8proc_option_t>(int{UTF8PROC_DECOMPOSE} | int{UTF8PROC_COMPAT}));
}

char32_t composed(char32_t first, char32_t second) {
  if (later_than_tables(first) || later_than_tables(second)) return 0;
  std::array<utf8proc_int32_t, 2> both{static_cast<utf8proc_int32_t>(first),
                                       static_cast<utf8proc_int32_t>(second)};
  const utf8proc_ssize_t count = utf8proc_normalize_utf32(
      both.data(), 2, static_cast<utf8proc_option_t>(int{UTF8PROC_COMPOSE} | int{UTF8PROC_STABLE}));
  return count == 1 ? static_cast<char32_t>(both[0]) : 0;
}

std::size_t cluster_end(const Characters& text, std::size_t begin) {
  utf8proc_int32_t state = 0;
  const auto at = [&](std::size_t i) { return static_cast<utf8proc_int32_t>(text[i].value); };
  for (std::size_t i = begin + 1; i < text.size(); ++i)
    if (utf8proc_grapheme_break_stateful(at(i - 1), at(i), &state)) return i;
  return text.size();
}

int combining_class(char32_t c) {
  if (c < 0x80 || later_than_tables(c)) return 0;
  return utf8proc_get_property(static_cast<utf8proc_int32_t>(c))->combining_class;
}

std::u32string lower(char32_t c) {
  if (c == 0x130) return {U'i', 0x307};
  return {static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c)))};
}

}  // namespace lockstep::dimabsa
