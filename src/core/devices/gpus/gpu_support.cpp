#include "core/devices/gpus/gpu_support.h"

#include "core/base/error.h"
#include "core/base/text/text.h"

namespace lockstep {
namespace {

// The oldest Linux driver that supports a CUDA major version (CUDA release notes, minor version
// compatibility).
std::string driver_for(int cuda_needed) {
  switch (cuda_needed / 1000) {
    case 11:
      return "450.80.02";
    case 12:
      return "525.60.13";
    case 13:
      return "580.65.06";
    default:
      return "";
  }
}

// How to build for a driver of CUDA 12. The second package contains a header that LibTorch's
// packages lack.
constexpr const char* build_for_cuda_12 =
    "or build against a LibTorch for CUDA 12: python3 -m pip install --target torch-cuda-12 "
    "torch==2.11.0+cu126 nvidia-cuda-nvcc-cu12==12.6.77 --extra-index-url "
    "https://download.pytorch.org/whl/cu126 && "
    "LOCKSTEP_TORCH=$PWD/torch-cuda-12/torch make build; ";

std::string instead(const std::vector<GpuInfo>& present) {
  std::vector<std::string> usable;
  for (std::size_t i = 0; i < present.size(); ++i) {
    const GpuInfo& gpu = present[i];
    if (gpu.fault.empty() && !too_old(gpu.compute_major, gpu.compute_minor)) {
      usable.push_back(cat(i));
    }
  }
  if (usable.empty()) return "use --devices cpu";
  return cat("use --devices ", join(usable, ","), ", or --devices cpu");
}

}  // namespace

std::string cuda_text(int version) { return cat(version / 1000, ".", version % 1000 / 10); }

bool too_old(int major, int minor) {
  if (major == 0) return false;  // unknown
  return major < oldest_compute_major ||
         (major == oldest_compute_major && minor < oldest_compute_minor);
}

void check_gpus(const std::vector<GpuInfo>& chosen, const std::vector<GpuInfo>& present) {
  for (const GpuInfo& gpu : chosen) {
    if (!gpu.fault.empty()) {
      throw Error(cat("GPU ", gpu.index, " (", gpu.name, ") cannot be used: ", gpu.fault),
                  cat(instead(present), "; nvidia-smi and the kernel's log may say more"));
    }
    if (too_old(gpu.compute_major, gpu.compute_minor)) {
      throw Error(cat("GPU ", gpu.index, " (", gpu.name, ") is too old: its compute capability is ",
                      gpu.compute_major, ".", gpu.compute_minor, ", but must be at least ",
                      oldest_compute_major, ".", oldest_compute_minor, " (T4, RTX 20)"),
                  instead(present));
    }
  }
}

void check_driver(GpuProbe& probe, int cuda_needed) {
  const int offered = probe.cuda_driver_version();
  // Newer libraries run on older drivers of the same CUDA major version.
  if (cuda_needed <= 0 || offered <= 0 || offered / 1000 >= cuda_needed / 1000) return;
  const std::string newer = driver_for(cuda_needed);
  throw Error(cat("NVIDIA driver ", probe.driver_version(), " offers CUDA ", cuda_text(offered),
                  ", but this build needs CUDA ", cuda_text(cuda_needed)),
              cat("install driver ", newer.empty() ? "of that CUDA" : newer, " or newer; ",
                  offered / 1000 == 12 ? build_for_cuda_12 : "", "or use --devices cpu"));
}

}  // namespace lockstep
