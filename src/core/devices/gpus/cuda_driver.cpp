#include "core/devices/gpus/cuda_driver.h"

#include <dlfcn.h>

#include <array>
#include <cstdlib>

namespace lockstep {
namespace {

// Values and types of the CUDA driver API.
constexpr int success = 0, no_device = 100;
struct Uuid {
  std::array<unsigned char, 16> bytes;
};

std::string text_of(const Uuid& uuid) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < uuid.bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += digits[uuid.bytes[i] >> 4];
    text += digits[uuid.bytes[i] & 15];
  }
  return text;
}

}  // namespace

std::optional<std::vector<std::string>> cuda_device_uuids() {
  const char* chosen = std::getenv("LOCKSTEP_CUDA_DRIVER");
  void* library = dlopen(chosen && *chosen ? chosen : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  // The library stays loaded, because the driver does not support unloading.
  if (!library) return std::nullopt;
  const auto init = reinterpret_cast<int (*)(unsigned)>(dlsym(library, "cuInit"));
  const auto count_of = reinterpret_cast<int (*)(int*)>(dlsym(library, "cuDeviceGetCount"));
  auto uuid_of = reinterpret_cast<int (*)(Uuid*, int)>(dlsym(library, "cuDeviceGetUuid_v2"));
  if (!init || !count_of || !uuid_of) return std::nullopt;
  const int started = init(0);
  if (started == no_device) return std::vector<std::string>{};
  int count = 0;
  if (started != success || count_of(&count) != success) return std::nullopt;
  std::vector<std::string> uuids;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    Uuid uuid{};
    if (uuid_of(&uuid, ordinal) != success) return std::nullopt;
    uuids.push_back(text_of(uuid));
  }
  return uuids;
}

}  // namespace lockstep
