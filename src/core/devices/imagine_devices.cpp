// Devices that do not exist here, so that a plan can be printed for any machine.
#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "core/base/whole_number.h"
#include "core/devices/cpu_ranks.h"
#include "core/devices/gpus/gpu_catalogue.h"
#include "core/devices/gpus/gpu_probe.h"
#include "core/devices/gpus/gpu_support.h"
#include "core/devices/gpus/visible_gpus.h"

namespace lockstep {
namespace {

constexpr int most_devices = 4096;

Device as_device(const GpuModel& model) {
  return {.kind = DeviceKind::cuda,
          .name = std::string(model.name),
          .memory_bytes = static_cast<std::uint64_t>(model.memory_mib) << 20,
          .compute_major = model.compute_major,
          .compute_minor = model.compute_minor};
}

// "80GB" is any GPU with that memory and bf16 (sm_80). Names of cards count memory in GiB.
std::optional<Device> of_memory(std::string_view text) {
  std::string upper(text);
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  const std::size_t digits = upper.find_first_not_of("0123456789");
  const std::string unit = digits == upper.npos ? "" : trim(upper.substr(digits));
  if (unit != "GB" && unit != "GIB" && unit != "G") return std::nullopt;
  const auto size = whole_number<int>(upper.substr(0, digits), 1, most_devices);
  if (!size) return std::nullopt;
  return Device{.kind = DeviceKind::cuda,
                .name = cat(*size, " GB GPU"),
                .memory_bytes = static_cast<std::uint64_t>(*size) << 30,
                .compute_major = 8,
                .compute_minor = 0};
}

[[noreturn]] void refuse_unknown(const std::string& model) {
  std::vector<std::string> keys;
  for (const GpuModel& each : gpu_catalogue()) keys.emplace_back(each.key);
  const std::string near = nearest(model, keys);
  throw Error(
      cat("unknown GPU \"", model, "\"", near.empty() ? "" : cat("; did you mean ", near, "?")),
      cat("name a kind and how many, as in 2xT4; known are ", join(keys, ", "),
          "; or give its memory, as in 4x80GB; or a number, all, cpu or cpu:4"));
}

Device named(const std::string& model) {
  if (auto device = of_memory(model)) return *device;
  if (const GpuModel* known = find_gpu_model(model)) return as_device(*known);
  refuse_unknown(model);
}

Device first_of_this_machine(GpuProbe& probe, const char* visible) {
  const std::vector<GpuInfo> left = visible_gpus(probe.gpus(), visible);
  if (left.empty()) return as_device(*find_gpu_model("H100"));
  return {.kind = DeviceKind::cuda,
          .name = left[0].name,
          .memory_bytes = left[0].memory_total_bytes.value_or(0),
          .compute_major = left[0].compute_major,
          .compute_minor = left[0].compute_minor};
}

[[noreturn]] void refuse_count(const std::string& spec) {
  throw Error(
      cat("the number of devices must be from 1 to ", most_devices, ", but is \"", spec, "\""),
      "for example --devices 8, --devices 8xH100, --devices 2xT4,1xH100 or --devices cpu:4");
}

std::vector<Device> repeat(const Device& device, int count, const std::string& spec) {
  if (count < 1 || count > most_devices) refuse_count(spec);
  if (too_old(device.compute_major, device.compute_minor)) {
    throw Error(cat(device.name, " is too old: its compute capability is ", device.compute_major,
                    ".", device.compute_minor, ", but must be at least ", oldest_compute_major, ".",
                    oldest_compute_minor, " (T4, RTX 20)"));
  }
  return std::vector<Device>(static_cast<std::size_t>(count), device);
}

// Numbers the devices as if they were in one machine.
std::vector<Device> numbered(std::vector<Device> devices, const HostInfo& host) {
  const int count = static_cast<int>(devices.size());
  for (int i = 0; i < count; ++i) {
    devices[static_cast<std::size_t>(i)].index = i;
    devices[static_cast<std::size_t>(i)].threads = std::max(1, host.cores / count);
  }
  return devices;
}

// One entry of a list, such as "2xT4".
struct Kind {
  int count = 1;
  std::string model;
};

// Reads "T4 x2", as notebook services write it. Returns nothing if the GPU is not known.
std::optional<Kind> kind_before_count(const std::string& part) {
  const std::size_t digits = part.find_last_not_of("0123456789") + 1;
  const std::string before = trim(part.substr(0, digits));
  if (digits == part.size() || before.empty() || (before.back() != 'x' && before.back() != 'X'))
    return std::nullopt;
  const std::string model = trim(before.substr(0, before.size() - 1));
  if (find_gpu_model(model) == nullptr) return std::nullopt;
  return Kind{whole_number<int>(part.substr(digits)).value_or(0), model};
}

// Returns "T4 x 2" for "GPU T4 x 2", which Kaggle writes. A text that begins with "GPU-" is a UUID
// and is kept.
std::string without_word_gpu(const std::string& part) {
  constexpr std::size_t length = 3;
  std::string begin = part.substr(0, length);
  for (char& c : begin) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return begin == "GPU" && !part.substr(length).starts_with('-') ? trim(part.substr(length)) : part;
}

// Reads "2xT4", or "T4" alone if that GPU is known.
std::optional<Kind> kind_of(const std::string& written) {
  const std::string part = without_word_gpu(written);
  const std::size_t times = part.find_first_not_of("0123456789");
  if (times > 0 && times != part.npos && (part[times] == 'x' || part[times] == 'X'))
    return Kind{whole_number<int>(part.substr(0, times)).value_or(0), trim(part.substr(times + 1))};
  if (find_gpu_model(part) != nullptr || of_memory(part)) return Kind{1, part};
  return kind_before_count(part);
}

// Returns nothing if no entry names an imagined GPU. The list may then name real devices.
std::optional<std::vector<Device>> imagined(const std::string& list) {
  std::vector<std::string> parts;
  for (const std::string& part : split(list, ',')) parts.push_back(trim(part));
  if (std::none_of(parts.begin(), parts.end(), [](const auto& part) { return kind_of(part); }))
    return std::nullopt;
  std::vector<Device> devices;
  for (const std::string& part : parts) {
    const std::optional<Kind> kind = kind_of(part);
    if (!kind)
      throw Error(cat("\"", part, "\" of --devices ", list, " is not a number of GPUs of one kind"),
                  "for example --devices 2xT4,1xH100; real devices and imagined ones do not mix");
    const std::vector<Device> alike = repeat(named(kind->model), kind->count, part);
    devices.insert(devices.end(), alike.begin(), alike.end());
    if (devices.size() > most_devices) refuse_count(list);
  }
  return devices;
}

// Whether the list names real GPUs, by index or UUID.
bool names_gpus(const std::string& list) {
  const std::vector<std::string> parts = split(list, ',');
  return std::all_of(parts.begin(), parts.end(), [](const std::string& part) {
    return is_uuid(trim(part)) || trim(part).find_first_not_of("0123456789") == part.npos;
  });
}

// The real devices of the list. If the machine has no GPU, the error suggests an imagined one.
std::vector<Device> real_gpus(const std::string& list, GpuProbe& probe, const HostInfo& host,
                              const char* visible, const std::filesystem::path& root) try {
  return select_devices(list, probe, host, visible, 0, root);
} catch (const Error& error) {
  if (!visible_gpus(probe.gpus(), visible).empty()) throw;
  throw Error(error.what(), "say how many instead, as in --devices 2, or of which kind: 2xT4");
}

}  // namespace

std::vector<Device> imagine_devices(const std::string& spec, GpuProbe& probe, const HostInfo& host,
                                    const char* visible, const std::filesystem::path& root) {
  const std::string wanted = trim(spec);
  // "0" is not a count but the first GPU, as in commands that use devices.
  if (wanted == "0")
    return numbered(repeat(first_of_this_machine(probe, visible), 1, wanted), host);
  if (!wanted.empty() && wanted.find_first_not_of("0123456789") == wanted.npos)
    return numbered(repeat(first_of_this_machine(probe, visible),
                           whole_number<int>(wanted).value_or(0), wanted),
                    host);
  if (auto devices = imagined(wanted)) return numbered(std::move(*devices), host);
  if (names_gpus(wanted)) return real_gpus(wanted, probe, host, visible, root);
  const bool is_word = wanted == "all" || wanted == "auto" || wanted.starts_with("cpu");
  if (!is_word) refuse_unknown(wanted);
  return select_devices(wanted, probe, host, visible, 0, root);
}

}  // namespace lockstep
