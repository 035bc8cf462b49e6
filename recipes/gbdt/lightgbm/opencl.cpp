#include "recipes/gbdt/lightgbm/opencl.h"

#include <dlfcn.h>
#include <link.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>
#include <type_traits>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "core/base/whole_number.h"

namespace lockstep::gbdt {
namespace {

namespace fs = std::filesystem;

using Handle = void*;  // a cl_platform_id or cl_device_id

// The functions of OpenCL 1.0 that are used, declared here. All return 0 for success.
struct OpenClApi {
  int (*platforms)(unsigned room, Handle* platforms, unsigned* count);
  int (*platform_info)(Handle platform, unsigned what, std::size_t bytes, void* value,
                       std::size_t* needed);
  int (*devices)(Handle platform, std::uint64_t type, unsigned room, Handle* devices,
                 unsigned* count);
  int (*device_info)(Handle device, unsigned what, std::size_t bytes, void* value,
                     std::size_t* needed);
};
constexpr unsigned platform_name = 0x0902, device_name = 0x102B, device_type = 0x1000;
constexpr std::uint64_t all_devices = 0xFFFFFFFF, gpu_device = 4;
constexpr const char* nvidia_driver = "libnvidia-opencl.so.1";

bool find_api(const std::function<void*(const char*)>& symbol, OpenClApi& api) {
  const auto get = [&](const char* name, auto& function) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(symbol(name));
    return function != nullptr;
  };
  return get("clGetPlatformIDs", api.platforms) && get("clGetPlatformInfo", api.platform_info) &&
         get("clGetDeviceIDs", api.devices) && get("clGetDeviceInfo", api.device_info);
}

bool find_api(const LightGbm& library, OpenClApi& api) {
  if (find_api([&](const char* name) { return library.symbol(name); }, api)) return true;
  void* const loader = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  return loader != nullptr && find_api([&](const char* name) { return dlsym(loader, name); }, api);
}

// Whether a file in the folder of OpenCL's loader names NVIDIA's driver.
bool nvidia_is_registered() {
  const char* const own = std::getenv("OCL_ICD_VENDORS");
  const fs::path folder = own != nullptr && *own != '\0' ? own : "/etc/OpenCL/vendors";
  std::error_code failed;
  for (const auto& file : fs::directory_iterator(folder, failed))
    if (file.is_regular_file(failed) &&
        read_file(file.path()).find("nvidia-opencl") != std::string::npos)
      return true;
  return false;
}

// The driver's name if the dynamic linker finds it. Otherwise its path next to libcuda, or "" if it
// is not there.
std::string find_nvidia_driver() {
  if (dlopen(nvidia_driver, RTLD_LAZY | RTLD_LOCAL) != nullptr) return nvidia_driver;
  void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  link_map* map = nullptr;
  if (driver == nullptr || dlinfo(driver, RTLD_DI_LINKMAP, &map) != 0) return "";
  const fs::path beside = fs::path(map->l_name).parent_path() / nvidia_driver;
  std::error_code failed;
  return fs::exists(beside, failed) ? beside.string() : "";
}

// Must run before the first OpenCL call, because the loader reads its environment then.
void register_nvidia_driver() {
  if (std::getenv("OCL_ICD_FILENAMES") != nullptr || nvidia_is_registered()) return;
  if (const std::string path = find_nvidia_driver(); !path.empty())
    setenv("OCL_ICD_FILENAMES", path.c_str(), 1);
}

template <class Info>
std::string text_of(Info info, Handle of, unsigned what) {
  std::size_t bytes = 0;
  if (info(of, what, 0, nullptr, &bytes) != 0 || bytes == 0) return "";
  std::string text(bytes, '\0');
  if (info(of, what, bytes, text.data(), nullptr) != 0) return "";
  return printable(trim(text.c_str()));
}

// Returns true if the driver does not report the type.
bool is_gpu(const OpenClApi& api, Handle device) {
  std::uint64_t type = 0;
  if (api.device_info(device, device_type, sizeof type, &type, nullptr) != 0) return true;
  return (type & gpu_device) != 0;
}

OpenClPlatform describe(const OpenClApi& api, Handle platform) {
  OpenClPlatform found{.name = text_of(api.platform_info, platform, platform_name), .devices = {}};
  unsigned count = 0;
  if (api.devices(platform, all_devices, 0, nullptr, &count) != 0) return found;
  std::vector<Handle> devices(count);
  if (api.devices(platform, all_devices, count, devices.data(), &count) != 0) return found;
  for (Handle device : devices)
    found.devices.push_back(
        {.name = text_of(api.device_info, device, device_name), .is_gpu = is_gpu(api, device)});
  return found;
}

std::string lower(std::string text) {
  for (char& letter : text)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  return text;
}

std::string list(const std::vector<OpenClPlatform>& platforms) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < platforms.size(); ++i)
    words.push_back(cat(i, " ", platforms[i].name));
  return join(words, ", ");
}

// Indices of the platforms with this name. If there are none, indices of those whose names contain
// it.
std::vector<std::size_t> named(const std::vector<OpenClPlatform>& platforms,
                               const std::string& part) {
  std::vector<std::size_t> whole, found;
  for (std::size_t i = 0; i < platforms.size(); ++i) {
    const std::string name = lower(platforms[i].name);
    if (name == lower(part)) whole.push_back(i);
    if (name.find(lower(part)) != std::string::npos) found.push_back(i);
  }
  return whole.empty() ? found : whole;
}

// The index of a platform's first GPU.
std::optional<std::size_t> first_gpu(const OpenClPlatform& platform) {
  for (std::size_t i = 0; i < platform.devices.size(); ++i)
    if (platform.devices[i].is_gpu) return i;
  return std::nullopt;
}

std::size_t usual_platform(const std::vector<OpenClPlatform>& platforms) {
  if (const auto nvidia = named(platforms, "nvidia"); !nvidia.empty()) return nvidia.front();
  for (std::size_t i = 0; i < platforms.size(); ++i)
    if (first_gpu(platforms[i])) return i;
  return 0;
}

}  // namespace

std::vector<OpenClPlatform> opencl_platforms(const LightGbm& library) {
  OpenClApi api{};
  if (!find_api(library, api)) return {};
  register_nvidia_driver();
  unsigned count = 0;
  if (api.platforms(0, nullptr, &count) != 0) return {};
  std::vector<Handle> handles(count);
  if (api.platforms(count, handles.data(), &count) != 0) return {};
  std::vector<OpenClPlatform> platforms;
  for (Handle platform : handles) platforms.push_back(describe(api, platform));
  return platforms;
}

std::size_t choose_platform(const std::vector<OpenClPlatform>& platforms,
                            const std::string& asked) {
  if (platforms.empty())
    throw Error("there is no OpenCL platform on this machine",
                "the driver of a GPU brings one (NVIDIA: libnvidia-opencl.so.1); gbdt.device=cuda "
                "needs none");
  if (const auto number = whole_number<std::size_t>(asked); number && *number < platforms.size())
    return *number;
  if (asked.empty()) return usual_platform(platforms);
  const std::vector<std::size_t> found = named(platforms, asked);
  if (found.size() != 1)
    throw Error(cat("gbdt.gpu_platform=", asked, " names ", found.empty() ? "no" : "more than one",
                    " OpenCL platform"),
                cat("there are: ", list(platforms)));
  return found.front();
}

std::size_t choose_device(const OpenClPlatform& platform, const std::string& asked, bool is_named) {
  const auto& [name, devices] = platform;
  if (devices.empty()) throw Error(cat("the OpenCL platform ", name, " has no device here"));
  const auto chosen = asked == "-1" ? std::optional(first_gpu(platform).value_or(0))
                                    : whole_number<std::size_t>(asked);
  if (!chosen || *chosen >= devices.size()) {
    std::vector<std::string> names;
    for (const OpenClDevice& device : devices) names.push_back(device.name);
    throw Error(cat("there is no device ", asked, " on the OpenCL platform ", name),
                cat("it has ", join(names, ", "),
                    "; numbers begin at 0, among the GPUs that the process sees"));
  }
  if (!devices[*chosen].is_gpu && !is_named)
    throw Error(cat("gbdt.device=gpu needs a GPU, but the OpenCL device ", devices[*chosen].name,
                    " of ", name, " is none"),
                cat("gbdt.device=cpu trains on the CPU; gbdt.gpu_platform='", name,
                    "' trains on this device all the same"));
  return *chosen;
}

std::string choose_opencl_device(const LightGbm& library, const std::string& platform,
                                 Parameters& parameters) {
  const std::vector<OpenClPlatform> platforms = opencl_platforms(library);
  const std::size_t chosen = choose_platform(platforms, platform);
  const auto& [name, devices] = platforms[chosen];
  const std::size_t device = choose_device(
      platforms[chosen], value_of(parameters, "gpu_device_id", "-1"), !platform.empty());
  std::erase_if(parameters, [](const auto& one) { return one.first == "gpu_device_id"; });
  parameters.emplace_back("gpu_platform_id", cat(chosen));
  parameters.emplace_back("gpu_device_id", cat(device));
  return cat(name, ": ", devices[device].name);
}

}  // namespace lockstep::gbdt
