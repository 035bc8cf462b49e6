#include "tools/cli/words/schedule_words.h"

#include "core/config/parse.h"
#include "planning/schedule/schedule.h"

#include <algorithm>
#include <string_view>

namespace lockstep::cli {
namespace {

// Whether the word is a length of the schedule. The length 0 does not count, because it is the same
// in any unit.
bool is_schedule_length(const OurWord& word) {
  constexpr std::string_view group = "schedule.";
  if (!word.name.starts_with(group) || detail::parse_real(word.value) == 0.0) return false;
  if (word.name == "schedule.warmup") return true;
  const std::string name = word.name.substr(group.size());
  const std::vector<ScheduleKind>& kinds = schedule_kinds();
  return std::any_of(kinds.begin(), kinds.end(), [&](const ScheduleKind& kind) {
    return std::any_of(
        kind.parameters.begin(), kind.parameters.end(),
        [&](const ScheduleParameter& each) { return each.is_length && each.name == name; });
  });
}

void drop_unit(std::vector<OurWord>& words) {
  std::erase_if(words, [](const OurWord& word) { return word.name == "schedule.unit"; });
}

}  // namespace

std::optional<TimeUnit> unit_of_lengths(const std::vector<OurWord>& words, TimeUnit otherwise) {
  TimeUnit unit = otherwise;
  bool says_unit = words.size() == 1 && words[0].name == "schedule.unit";
  for (const OurWord& word : words) {
    if (word.name == "schedule.unit")
      unit = word.value == "epochs" ? TimeUnit::epochs : TimeUnit::steps;
    says_unit |= is_schedule_length(word);
  }
  return says_unit ? std::optional(unit) : std::nullopt;
}

void drop_idle_unit(std::vector<OurWord>& words) {
  if (std::none_of(words.begin(), words.end(), is_schedule_length)) drop_unit(words);
}

void take_share_of_steps(std::vector<OurWord>& words) {
  constexpr std::string_view share = "*stop.epochs";
  bool is_share = false;
  for (OurWord& word : words) {
    if (!word.value.ends_with(share)) continue;
    word.value.replace(word.value.size() - share.size(), share.size(), "*stop.steps");
    is_share = true;
  }
  if (is_share) drop_unit(words);
}

}  // namespace lockstep::cli
