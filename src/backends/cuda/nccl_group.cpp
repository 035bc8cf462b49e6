// Makes a c10d::ProcessGroupNCCL on high-priority streams, bound to this process's only GPU.
#include "backends/cuda/nccl_group.h"

#include "core/base/error.h"
#include "core/base/text/text.h"

#include <torch/csrc/distributed/c10d/NCCLUtils.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

namespace lockstep {

c10::intrusive_ptr<c10d::Backend> make_nccl_group(const c10::intrusive_ptr<c10d::Store>& store,
                                                  int rank, int size, at::Device device,
                                                  std::chrono::milliseconds timeout) {
  auto options = c10d::ProcessGroupNCCL::Options::create(/*is_high_priority_stream=*/true);
  options->timeout = timeout;
  try {
    auto group = c10::make_intrusive<c10d::ProcessGroupNCCL>(store, rank, size, options);
    group->setBoundDeviceId(device);
    if (size > 1) group->eagerConnectSingleDevice(device);
    return group;
  } catch (const c10::Error& error) {
    throw Error(cat("rank ", rank, " of ", size, " could not connect to the others through NCCL ",
                    nccl_version(), ": ", error.what_without_backtrace()),
                "set NCCL_DEBUG=INFO to see what NCCL tried, and NCCL_SOCKET_IFNAME to the network "
                "interface that the machines share");
  }
}

std::string nccl_version() { return c10d::getNcclVersion(); }

}  // namespace lockstep
