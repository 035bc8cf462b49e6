#include "core/devices/gpus/visible_gpus.h"

#include <algorithm>
#include <cctype>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "core/base/whole_number.h"

namespace lockstep {
namespace {

bool starts_with_ignoring_case(std::string_view text, std::string_view prefix) {
  auto same = [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); };
  return text.size() >= prefix.size() &&
         std::equal(prefix.begin(), prefix.end(), text.begin(), same);
}

GpuInfo named_by(const std::vector<GpuInfo>& gpus, const std::string& word, const char* visible) {
  const std::string variable = cat("CUDA_VISIBLE_DEVICES is \"", visible, "\", but ");
  const std::string hint = cat("this machine's GPUs are ", list_gpus(gpus),
                               "; mend CUDA_VISIBLE_DEVICES, or unset it to use all of them");
  if (is_uuid(word)) {
    const std::vector<int> matches = find_by_uuid(gpus, word);
    if (matches.size() == 1) return gpus[matches[0]];
    if (matches.empty() && starts_with_ignoring_case(word, "MIG-")) {
      return {.uuid = word, .name = "MIG instance"};
    }
    throw Error(cat(variable, matches.empty() ? "no GPU" : "more than one GPU",
                    " here has a UUID that starts with ", word),
                hint);
  }
  const auto index = whole_number<int>(word, std::numeric_limits<int>::min());
  if (!index) {
    throw Error(cat(variable, "\"", word, "\" is neither an index nor a UUID of a GPU"), hint);
  }
  for (const GpuInfo& gpu : gpus) {
    if (gpu.index == *index) return gpu;
  }
  throw Error(cat(variable, "there is no GPU ", *index, " here"), hint);
}

}  // namespace

bool is_uuid(std::string_view word) {
  return starts_with_ignoring_case(word, "GPU-") || starts_with_ignoring_case(word, "MIG-");
}

std::vector<int> find_by_uuid(const std::vector<GpuInfo>& gpus, std::string_view prefix) {
  std::vector<int> found;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    if (gpus[i].uuid.size() == prefix.size() && starts_with_ignoring_case(gpus[i].uuid, prefix)) {
      return {static_cast<int>(i)};
    }
    if (starts_with_ignoring_case(gpus[i].uuid, prefix)) found.push_back(static_cast<int>(i));
  }
  return found;
}

bool hides_all(const char* visible) {
  if (!visible) return false;
  const std::string first = trim(split(visible, ',')[0]);
  return first.empty() || first == "-1" || first == "none" || first == "void" ||
         first == "NoDevFiles";
}

std::vector<GpuInfo> visible_gpus(const std::vector<GpuInfo>& gpus, const char* visible) {
  if (!visible) return gpus;
  if (gpus.empty() || hides_all(visible)) return {};
  std::vector<GpuInfo> left;
  for (const std::string& part : split(visible, ',')) {
    const std::string word = trim(part);
    if (word == "-1" || word.empty()) break;  // CUDA stops at the first word that it cannot use
    const GpuInfo gpu = named_by(gpus, word, visible);
    const bool twice = std::any_of(left.begin(), left.end(), [&](const GpuInfo& other) {
      return gpu.index == other.index && gpu.uuid == other.uuid;
    });
    if (twice) {
      throw Error(cat("CUDA_VISIBLE_DEVICES is \"", visible, "\", which names one GPU twice"),
                  "name each GPU once; CUDA would show none at all");
    }
    left.push_back(gpu);
  }
  return left;
}

std::string list_gpus(const std::vector<GpuInfo>& gpus) {
  std::vector<std::string> words;
  for (const GpuInfo& gpu : gpus) {
    words.push_back(cat(gpu.index, " (", gpu.name, gpu.uuid.starts_with("MIG-") ? " " : "",
                        gpu.uuid.starts_with("MIG-") ? gpu.uuid : "", ")"));
  }
  return words.empty() ? "none" : join(words, ", ");
}

}  // namespace lockstep
