// The CPU backend. It uses Gloo over loopback or the host's own address. Uploads and downloads do
// not copy.
#include "backends/backend.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/text/text.h"
#include "runtime/launch/world/own_address.h"

#include <ATen/ops/empty.h>
#if __has_include(<torch/csrc/distributed/c10d/gloo/GlooDeviceFactory.hpp>)
#include <torch/csrc/distributed/c10d/gloo/GlooDeviceFactory.hpp>  // since torch 2.15
#else
#include <torch/csrc/distributed/c10d/GlooDeviceFactory.hpp>
#endif
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include <chrono>
#include <cstdlib>
#include <utility>

namespace lockstep {
namespace {

class CpuUpload : public Upload {
 public:
  explicit CpuUpload(std::vector<at::Tensor> tensors) : tensors_(std::move(tensors)) {}
  std::vector<at::Tensor> take() override { return std::move(tensors_); }

 private:
  std::vector<at::Tensor> tensors_;
};

class CpuDownload : public Download {
 public:
  explicit CpuDownload(at::Tensor tensor) : tensor_(std::move(tensor)) {}
  bool ready() override { return true; }
  at::Tensor get() override { return tensor_; }

 private:
  at::Tensor tensor_;
};

std::int64_t status_bytes(const char* key) {
  std::FILE* file = std::fopen("/proc/self/status", "r");
  if (file == nullptr) return 0;
  char line[256];
  long long kib = 0;
  while (std::fgets(line, sizeof line, file) != nullptr)
    if (std::string_view(line).starts_with(key)) {
      kib = std::atoll(line + std::string_view(key).size());
      break;
    }
  std::fclose(file);
  return kib * 1024;
}

// Returns the address on which Gloo listens. It is loopback if all ranks are on one host, and
// otherwise the address on the route to rank 0. The host's own name is not used, because it often
// stands for 127.0.1.1.
std::string address_for(const World& world) {
  const std::string& master = world.master_addr;
  if (world.size == world.local_size || master == "127.0.0.1" || master == "localhost")
    return "127.0.0.1";
  std::string address = address_towards(master);
  if (address.empty())
    throw Error(
        cat("on this host ", master, " stands for an address that other hosts cannot reach"),
        "set MASTER_ADDR to the address of that host in the network that all share, or "
        "GLOO_SOCKET_IFNAME to its interface");
  return address;
}

class CpuBackend : public Backend {
 public:
  at::Device device() const override { return at::kCPU; }
  std::string description() const override { return "CPU, Gloo"; }
  void use_training_stream() override {}

  c10::intrusive_ptr<c10d::Backend> make_group(const c10::intrusive_ptr<c10d::Store>& store,
                                               const World& world,
                                               std::chrono::milliseconds timeout) override {
    using Gloo = c10d::ProcessGroupGloo;
    auto options = Gloo::Options::create(timeout);
    const char* const interface = std::getenv("GLOO_SOCKET_IFNAME");
    options->devices.push_back(interface != nullptr
                                   ? Gloo::createDeviceForInterface(interface)
                                   : Gloo::createDeviceForHostname(address_for(world)));
    return c10::make_intrusive<Gloo>(store, world.rank, world.size, options);
  }

  at::Tensor host_empty(at::IntArrayRef sizes, at::ScalarType dtype) override {
    return at::empty(sizes, dtype);
  }
  std::unique_ptr<Upload> upload(std::vector<at::Tensor> host) override {
    return std::make_unique<CpuUpload>(std::move(host));
  }
  std::unique_ptr<Download> download(const at::Tensor& tensor) override {
    return std::make_unique<CpuDownload>(tensor.clone());
  }
  void stamp(const at::Tensor& slot) override { slot.fill_(system_clock().now_s()); }
  void synchronize() override {}
  MemoryUse memory() override {
    const std::int64_t resident = status_bytes("VmRSS:");
    return {.allocated_bytes = resident,
            .reserved_bytes = resident,
            .peak_bytes = status_bytes("VmHWM:")};
  }
  void release_cached_memory() override {}
};

}  // namespace

Backend& cpu_backend() {
  static CpuBackend backend;
  return backend;
}

}  // namespace lockstep
