// Finds the script of letters by Unicode's blocks.
#include "recipes/dimabsa/sentences/scripts.h"

#include <map>

#include "core/base/text/utf8.h"

namespace lockstep::dimabsa {
namespace {

enum Script : unsigned { none = 0, latin = 1, cyrillic = 2, han = 4, kana = 8, hangul = 16 };

struct Block {
  char32_t first, last;
  Script script;
};
constexpr Block blocks[] = {
    {'A', 'Z', latin},        {'a', 'z', latin},        {0xC0, 0x24F, latin},
    {0x400, 0x52F, cyrillic}, {0x1100, 0x11FF, hangul}, {0x1E00, 0x1EFF, latin},
    {0x3041, 0x30FF, kana},   {0x3400, 0x4DBF, han},    {0x4E00, 0x9FFF, han},
    {0xAC00, 0xD7A3, hangul}, {0xF900, 0xFAFF, han},    {0xFF21, 0xFF3A, latin},
    {0xFF41, 0xFF5A, latin},  {0xFF66, 0xFF9F, kana},   {0x20000, 0x323AF, han},
};

unsigned scripts_in(std::string_view text) {
  unsigned found = none;
  while (!text.empty()) {
    const CodePoint point = next_code_point(text);
    text.remove_prefix(point.length);
    for (const Block& block : blocks)
      if (point.valid && point.value >= block.first && point.value <= block.last)
        found |= block.script;
  }
  return found;
}

}  // namespace

bool fits_language(std::string_view text, const std::string& language) {
  static const std::map<std::string, unsigned> of{{"eng", latin},       {"deu", latin},
                                                  {"fra", latin},       {"spa", latin},
                                                  {"por", latin},       {"ita", latin},
                                                  {"nld", latin},       {"pol", latin},
                                                  {"tur", latin},       {"vie", latin},
                                                  {"ind", latin},       {"swa", latin},
                                                  {"hau", latin},       {"ibo", latin},
                                                  {"kin", latin},       {"twi", latin},
                                                  {"ptbr", latin},      {"ptmz", latin},
                                                  {"rus", cyrillic},    {"ukr", cyrillic},
                                                  {"bul", cyrillic},    {"tat", cyrillic | latin},
                                                  {"zho", han},         {"jpn", han | kana},
                                                  {"kor", hangul | han}};
  const auto wanted = of.find(language);
  if (wanted == of.end()) return true;
  const unsigned found = scripts_in(text);
  return found == none || (found & wanted->second) != 0;
}

}  // namespace lockstep::dimabsa
