#include "core/devices/gpus/gpu_peaks.h"

#include <cmath>
#include <string>

namespace lockstep {
namespace {

// Peaks of tensor cores are for dense FP16. Datasheets from Ampere on print the rate with sparsity,
// which is twice the dense rate. If only FP8 with sparsity is printed, a quarter of it is dense
// FP16. If only FP4 with sparsity is printed, it is an eighth. GeForce cards run FP16 at half speed
// if sums are in fp32, as in LibTorch. That lower number is listed.
//
// Some cards are left out because their names are ambiguous. Laptops or passive cards with other
// clocks have the same names as GeForce RTX 2060 to 2080 SUPER and Quadro RTX 3000 to 8000. GeForce
// RTX 3050 has two chips. H800 is both PCIe and SXM. Others are left out because sources differ:
// B300, GB300, RTX PRO 6000 Max-Q, and FP32 of B200 and GB200.
constexpr GpuPeak peaks[] = {
    // Turing. NVIDIA T4 datasheet; NVIDIA Turing GPU Architecture whitepaper (reference cards).
    {"Tesla T4", 8.1, 65, false},
    {"NVIDIA GeForce RTX 2080 Ti", 13.4, 53.8, false},
    {"NVIDIA TITAN RTX", 16.3, 130.5, false},

    // Ampere, data centre. NVIDIA A100, A30, A40, A10, A10G and A2 datasheets.
    {"NVIDIA A100-SXM4-40GB", 19.5, 312},
    {"NVIDIA A100-SXM4-80GB", 19.5, 312},
    {"NVIDIA A100-PCIE-40GB", 19.5, 312},
    {"NVIDIA A100 80GB PCIe", 19.5, 312},
    {"NVIDIA A30", 10.3, 165},
    {"NVIDIA A40", 37.4, 149.7},
    {"NVIDIA A10", 31.2, 125},
    {"NVIDIA A10G", 35, 70},
    {"NVIDIA A2", 4.5, 18},

    // Ampere, workstation. NVIDIA RTX A… datasheets: half of the tensor performance with sparsity.
    {"NVIDIA RTX A6000", 38.7, 154.8},
    {"NVIDIA RTX A5500", 34.1, 136.4},
    {"NVIDIA RTX A5000", 27.8, 111.1},
    {"NVIDIA RTX A4500", 23.7, 94.6},
    {"NVIDIA RTX A4000", 19.2, 76.7},
    {"NVIDIA RTX A2000", 8.0, 31.9},
    {"NVIDIA RTX A2000 12GB", 8.0, 31.9},

    // Ampere, GeForce. NVIDIA Ampere GA102 GPU Architecture whitepaper. For cards after it, FP32 is
    // cores x 2 x boost clock of their specifications. Tensor cores have twice that, as in the
    // whitepaper.
    {"NVIDIA GeForce RTX 3090 Ti", 40.0, 80.0},
    {"NVIDIA GeForce RTX 3090", 35.6, 71.2},
    {"NVIDIA GeForce RTX 3080 Ti", 34.1, 68.2},
    {"NVIDIA GeForce RTX 3080", 29.8, 59.5, true, 10},
    {"NVIDIA GeForce RTX 3080", 30.6, 61.3, true, 12},
    {"NVIDIA GeForce RTX 3070 Ti", 21.7, 43.5},
    {"NVIDIA GeForce RTX 3070", 20.3, 40.6},
    {"NVIDIA GeForce RTX 3060 Ti", 16.2, 32.4},
    {"NVIDIA GeForce RTX 3060", 12.7, 25.5},

    // Ada, data centre. NVIDIA L4, L40 and L40S datasheets.
    {"NVIDIA L4", 30.3, 121},
    {"NVIDIA L40", 90.5, 181.05},
    {"NVIDIA L40S", 91.6, 362.05},

    // Ada, workstation. NVIDIA RTX … Ada Generation datasheets: a quarter of FP8 with sparsity.
    {"NVIDIA RTX 6000 Ada Generation", 91.1, 364.2},
    {"NVIDIA RTX 5880 Ada Generation", 69.3, 277.1},
    {"NVIDIA RTX 5000 Ada Generation", 65.3, 261.1},
    {"NVIDIA RTX 4500 Ada Generation", 39.6, 158.5},
    {"NVIDIA RTX 4000 Ada Generation", 26.7, 106.9},
    {"NVIDIA RTX 4000 SFF Ada Generation", 19.2, 76.7},
    {"NVIDIA RTX 2000 Ada Generation", 12.0, 48.0},

    // Ada, GeForce. NVIDIA Ada GPU Architecture whitepaper. Cards after it are computed as for
    // Ampere.
    {"NVIDIA GeForce RTX 4090", 82.6, 165.2},
    {"NVIDIA GeForce RTX 4080 SUPER", 52.2, 104.4},
    {"NVIDIA GeForce RTX 4080", 48.7, 97.5},
    {"NVIDIA GeForce RTX 4070 Ti SUPER", 44.1, 88.2},
    {"NVIDIA GeForce RTX 4070 Ti", 40.1, 80.2},
    {"NVIDIA GeForce RTX 4070 SUPER", 35.5, 71.0},
    {"NVIDIA GeForce RTX 4070", 29.1, 58.3},
    {"NVIDIA GeForce RTX 4060 Ti", 22.1, 44.1},
    {"NVIDIA GeForce RTX 4060", 15.1, 30.2},

    // Hopper. NVIDIA H100 Tensor Core GPU Architecture whitepaper (SXM5, PCIe); NVIDIA H100 NVL,
    // H200, H200 NVL and GH200 datasheets.
    {"NVIDIA H100 80GB HBM3", 66.9, 989.4},
    {"NVIDIA H100 PCIe", 51.2, 756},
    {"NVIDIA H100 NVL", 60, 835.5},
    {"NVIDIA H200", 66.9, 989.4},
    {"NVIDIA H200 NVL", 60, 835.5},
    {"NVIDIA GH200 480GB", 66.9, 989.4},
    {"NVIDIA GH200 144G HBM3e", 66.9, 989.4},

    // Blackwell, data centre. NVIDIA Blackwell datasheet: HGX B200 (1000 W), GB200 NVL72.
    {"NVIDIA B200", 0, 2250},
    {"NVIDIA GB200", 0, 2500},

    // Blackwell, workstation. NVIDIA RTX Blackwell PRO GPU Architecture whitepaper: an eighth of
    // FP4 with sparsity.
    {"NVIDIA RTX PRO 6000 Blackwell Workstation Edition", 126, 503.8},

    // Blackwell, GeForce. NVIDIA RTX Blackwell GPU Architecture whitepaper.
    {"NVIDIA GeForce RTX 5090", 104.8, 209.5},
    {"NVIDIA GeForce RTX 5080", 56.3, 112.6},
    {"NVIDIA GeForce RTX 5070 Ti", 43.9, 87.9},
    {"NVIDIA GeForce RTX 5070", 30.9, 61.7},
};

std::string_view without_maker(std::string_view name) {
  constexpr std::string_view maker = "NVIDIA ";
  return name.starts_with(maker) ? name.substr(maker.size()) : name;
}

// Drivers report a little less memory than the card's name says.
bool has_memory(const Device& device, double gib) {
  if (gib == 0) return true;
  const double present = static_cast<double>(device.memory_bytes) / (1 << 30);
  return std::fabs(present - gib) < 0.5;
}

const GpuPeak* find_peak(const Device& device) {
  for (const GpuPeak& peak : peaks)
    if (without_maker(peak.name) == without_maker(device.name) &&
        has_memory(device, peak.memory_gib))
      return &peak;
  return nullptr;
}

}  // namespace

std::span<const GpuPeak> gpu_peaks() { return peaks; }

std::optional<double> peak_flops(const Device& device, ComputeType type) {
  if (device.kind != DeviceKind::cuda || device.uuid.starts_with("MIG-")) return std::nullopt;
  const GpuPeak* peak = find_peak(device);
  if (peak == nullptr) return std::nullopt;
  const bool needs_ampere = type == ComputeType::bf16 || type == ComputeType::tf32;
  if (needs_ampere && !peak->has_bf16) return std::nullopt;
  const double tflops = type == ComputeType::fp32   ? peak->fp32_tflops
                        : type == ComputeType::tf32 ? peak->half_tflops / 2
                                                    : peak->half_tflops;
  return tflops > 0 ? std::optional(tflops * 1e12) : std::nullopt;
}

}  // namespace lockstep
