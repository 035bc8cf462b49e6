#include "recipes/gbdt/lightgbm/gpu.h"

#include <dlfcn.h>

#include <array>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "core/base/whole_number.h"
#include "recipes/gbdt/lightgbm/opencl.h"

namespace lockstep::gbdt {
namespace {

// The functions of CUDA's driver that are used, declared here. All return 0 for success.
class CudaDriver {
 public:
  // Throws Error if there is no driver.
  CudaDriver() {
    library_ = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    const auto begin = function<int(unsigned)>("cuInit");
    if (begin == nullptr) fail("no CUDA driver (libcuda.so.1)");
    if (begin(0) != 0) fail("no GPU that CUDA may use");
  }
  int devices() const {
    int count = 0;
    const auto ask = function<int(int*)>("cuDeviceGetCount");
    return ask != nullptr && ask(&count) == 0 ? count : 0;
  }
  std::string name(int index) const {
    std::array<char, 256> text{};
    const auto ask = function<int(char*, int, int)>("cuDeviceGetName");
    const auto get = function<int(int*, int)>("cuDeviceGet");
    int device = 0;
    if (ask == nullptr || get == nullptr || get(&device, index) != 0 ||
        ask(text.data(), static_cast<int>(text.size()) - 1, device) != 0)
      return "";
    return printable(text.data());
  }
  [[noreturn]] static void fail(const std::string& what) {
    throw Error(cat("LightGBM cannot train by CUDA: there is ", what),
                "gbdt.device=cpu trains on cores; lockstep devices says what GPUs there are");
  }

 private:
  template <class Function>
  Function* function(const char* name) const {
    return library_ == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(library_, name));
  }

  void* library_;
};

std::string check_cuda_device(const Parameters& parameters) {
  const std::string asked = value_of(parameters, "gpu_device_id", "-1");
  const auto device = whole_number<int>(asked == "-1" ? "0" : asked);
  const CudaDriver driver;
  const int devices = driver.devices();
  if (devices == 0) CudaDriver::fail("no GPU that this process sees");
  if (!device || *device >= devices)
    CudaDriver::fail(cat("no device ", asked, " among the ", devices, " that this process sees"));
  return driver.name(*device);
}

}  // namespace

std::string choose_gpu(const LightGbm& library, const std::string& platform,
                       Parameters& parameters) {
  const std::string device = value_of(parameters, "device_type", "cpu");
  if (device == "cuda") return check_cuda_device(parameters);
  if (device == "gpu") return choose_opencl_device(library, platform, parameters);
  return "";
}

}  // namespace lockstep::gbdt
