#include "core/devices/device_counts.h"

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "core/base/whole_number.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace lockstep {
namespace {

std::vector<int> doubled_up_to(int available) {
  std::vector<int> counts;
  for (int count = 1; count < available; count *= 2) counts.push_back(count);
  counts.push_back(available);
  return counts;
}

// "cpu:1,cpu:2" as "cpu:1,2".
std::string with_one_kind(const std::string& typed) {
  constexpr std::string_view kind = "cpu:";
  std::string numbers = typed;
  for (std::size_t at; (at = numbers.find(kind)) != numbers.npos;) numbers.erase(at, kind.size());
  return cat(kind, numbers);
}

int parse_count(const std::string& word, const std::string& typed) {
  if (const auto count = whole_number<int>(word, 1)) return *count;
  const bool names_kind =
      std::any_of(word.begin(), word.end(), [](unsigned char c) { return std::isalpha(c) != 0; });
  throw Error(cat("--devices must be numbers of devices such as 1,2,4, but is \"", typed, "\""),
              word.starts_with("cpu:")
                  ? cat("cpu: stands once, in front of all numbers: ", with_one_kind(typed))
              : names_kind
                  ? cat("it measures on the devices of this machine; for others, `lockstep plan "
                        "RECIPE --devices ",
                        typed, "` estimates")
                  : "they say how many, not which; CUDA_VISIBLE_DEVICES chooses which");
}

}  // namespace

std::vector<int> device_counts(const std::string& list, int available, const std::string& what,
                               const std::string& typed) {
  if (trim(list).empty()) return doubled_up_to(available);
  const std::string& shown = typed.empty() ? list : typed;
  std::vector<int> counts;
  for (const std::string& part : split(list, ',')) {
    const int count = parse_count(trim(part), shown);
    if (count > available)
      throw Error(cat("--devices ", shown, " asks for ", count, " ", what, "s, but there ",
                      available == 1 ? "is 1" : cat("are ", available)),
                  cat("the numbers go up to ", available));
    if (std::find(counts.begin(), counts.end(), count) != counts.end())
      throw Error(cat("--devices ", shown, " gives ", count, " twice"), "give each number once");
    counts.push_back(count);
  }
  std::sort(counts.begin(), counts.end());
  return counts;
}

}  // namespace lockstep
