#include "core/devices/gpus/cuda_order.h"

#include <algorithm>

#include "core/base/text/text.h"
#include "core/base/whole_number.h"
#include "core/devices/gpus/visible_gpus.h"

namespace lockstep {
namespace {

bool by_bus(const char* order) { return order && std::string_view(order) == "PCI_BUS_ID"; }

bool all_alike(const std::vector<GpuInfo>& gpus) {
  return std::all_of(gpus.begin(), gpus.end(), [&](const GpuInfo& gpu) {
    return gpu.name == gpus[0].name && gpu.memory_total_bytes == gpus[0].memory_total_bytes;
  });
}

bool any_out_of_the_ordinary(const std::vector<GpuInfo>& gpus) {
  return std::any_of(gpus.begin(), gpus.end(), [](const GpuInfo& gpu) {
    return !gpu.fault.empty() || gpu.uuid.starts_with("MIG-");
  });
}

bool only_uuids(const char* visible) {
  if (!visible) return false;
  for (const std::string& word : split(visible, ','))
    if (!is_uuid(trim(word))) return false;
  return true;
}

// The position in `gpus` of the GPU that one word of CUDA_VISIBLE_DEVICES names. -1 if there is
// none.
int position_of(const std::string& word, const std::vector<GpuInfo>& gpus) {
  if (is_uuid(word)) {
    const std::vector<int> found = find_by_uuid(gpus, word);
    return found.size() == 1 ? found[0] : -1;
  }
  return whole_number<int>(word, 0, static_cast<int>(gpus.size()) - 1).value_or(-1);
}

CudaOrder from_environment(const std::vector<GpuInfo>& gpus, const char* visible) {
  CudaOrder result{.ordinals = std::vector<std::optional<int>>(gpus.size())};
  int next = 0;
  if (!visible) {
    for (std::optional<int>& ordinal : result.ordinals) ordinal = next++;
    return result;
  }
  const std::string named = cat("CUDA_VISIBLE_DEVICES=", visible);
  for (const std::string& part :
       hides_all(visible) ? std::vector<std::string>{} : split(visible, ',')) {
    const std::string word = trim(part);
    const int at = position_of(word, gpus);
    if (at < 0) {
      if (word != "-1" && !word.empty())
        result.note = cat(named, ": there is no GPU \"", word,
                          "\" here, and CUDA shows nothing from there on");
      break;
    }
    std::optional<int>& ordinal = result.ordinals[static_cast<std::size_t>(at)];
    if (ordinal) {
      result.ordinals.assign(gpus.size(), std::nullopt);
      result.note = cat(named, " names one GPU twice, so CUDA shows none");
      return result;
    }
    ordinal = next++;
  }
  const int hidden = static_cast<int>(gpus.size()) - next;
  if (result.note.empty() && hidden > 0)
    result.note =
        cat(named, " hides ", hidden, " of ", gpus.size(), gpus.size() == 1 ? " GPU" : " GPUs");
  return result;
}

CudaOrder from_driver(const std::vector<GpuInfo>& gpus, const std::vector<std::string>& uuids,
                      const char* order) {
  CudaOrder result{.ordinals = std::vector<std::optional<int>>(gpus.size())};
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const std::string bare = gpus[i].uuid.substr(std::min<std::size_t>(4, gpus[i].uuid.size()));
    const auto found = std::find(uuids.begin(), uuids.end(), bare);
    if (found != uuids.end()) result.ordinals[i] = static_cast<int>(found - uuids.begin());
  }
  for (std::size_t i = 0; i < gpus.size(); ++i)
    if (result.note.empty() && !by_bus(order) && result.ordinals[i] &&
        *result.ordinals[i] != gpus[i].index && !gpus[i].uuid.starts_with("MIG-"))
      result.note = cat(
          "GPU ", gpus[i].index, " of nvidia-smi is cuda:", *result.ordinals[i],
          ": CUDA counts the fastest first; CUDA_DEVICE_ORDER=PCI_BUS_ID makes both count alike");
  return result;
}

}  // namespace

CudaOrder cuda_order(const std::vector<GpuInfo>& gpus, const char* visible, const char* order,
                     const AskCuda& ask) {
  const bool counted_alike =
      gpus.size() < 2 || by_bus(order) || all_alike(gpus) || only_uuids(visible);
  if (hides_all(visible) || (counted_alike && !any_out_of_the_ordinary(gpus)))
    return from_environment(gpus, visible);
  if (const auto uuids = ask ? ask() : std::nullopt) return from_driver(gpus, *uuids, order);
  return {.ordinals = std::vector<std::optional<int>>(gpus.size()),
          .known = false,
          .note =
              "CUDA's own numbers are not known: they depend on the driver here (GPUs of several "
              "kinds, MIG, "
              "or a fault), and libcuda.so.1 does not answer"};
}

}  // namespace lockstep
