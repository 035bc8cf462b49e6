#include "core/devices/device_counts.h"

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "core/base/whole_number.h"
#include "core/devices/gpus/gpu_catalogue.h"

#include <algorithm>
#include <string_view>

namespace lockstep {
namespace {

std::vector<int> doubled_up_to(int available) {
  std::vector<int> counts;
  for (int count = 1; count < available; count *= 2) counts.push_back(count);
  counts.push_back(available);
  return counts;
}

// Turns "cpu:1,cpu:2" into "cpu:1,2".
std::string with_one_kind(const std::string& typed) {
  constexpr std::string_view kind = "cpu:";
  std::string numbers = typed;
  for (std::size_t at; (at = numbers.find(kind)) != numbers.npos;) numbers.erase(at, kind.size());
  return cat(kind, numbers);
}

// Turns a word that names GPUs of a known kind into the form "2xT4". Returns "" for other words.
std::string gpus_named(const std::string& word) {
  const std::size_t times = word.find_first_not_of("0123456789");
  if (times == word.npos) return "";
  const bool has_count = times > 0 && (word[times] == 'x' || word[times] == 'X');
  const GpuModel* const model = find_gpu_model(has_count ? trim(word.substr(times + 1)) : word);
  if (model == nullptr) return "";
  return cat(has_count ? word.substr(0, times) : "1", "x", model->key);
}

int parse_count(const std::string& word, const std::string& typed) {
  if (const auto count = whole_number<int>(word, 1)) return *count;
  std::string hint = "they say how many, not which; CUDA_VISIBLE_DEVICES chooses which";
  if (word.starts_with("cpu:"))
    hint = cat("cpu: stands once, in front of all numbers: ", with_one_kind(typed));
  else if (word == "all" || word == "auto")
    hint = "leave it out: by itself it measures 1, 2, 4 and so on, up to all devices";
  else if (const std::string gpus = gpus_named(word); !gpus.empty())
    hint =
        cat("it measures on the devices of this machine; for others, `lockstep plan RECIPE "
            "--devices ",
            gpus, "` estimates");
  throw Error(cat("--devices must be numbers of devices such as 1,2,4, but is \"", typed, "\""),
              hint);
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
