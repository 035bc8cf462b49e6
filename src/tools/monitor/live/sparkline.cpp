#include "tools/monitor/live/sparkline.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/text/utf8.h"

namespace lockstep {

std::string sparkline(std::span<const float> percents, bool utf8) {
  constexpr std::array ascii{'_', '.', '-', ':', '=', '+', '*', '#'};
  constexpr char32_t lowest_block = 0x2581;
  std::string line;
  for (const float percent : percents) {
    if (std::isnan(percent)) {
      line += ' ';
      continue;
    }
    const float share = std::clamp(percent / 100, 0.0F, 1.0F);
    const auto level =
        std::min<std::size_t>(static_cast<std::size_t>(share * ascii.size()), ascii.size() - 1);
    if (utf8)
      append_utf8(line, lowest_block + static_cast<char32_t>(level));
    else
      line += ascii[level];
  }
  return line;
}

}  // namespace lockstep
