#include "core/devices/gpus/gpu_catalogue.h"

#include <cctype>
#include <string>

namespace lockstep {
namespace {

constexpr GpuModel models[] = {
    {"P100", "Tesla P100-PCIE-16GB", 16384, 6, 0},
    {"V100", "Tesla V100-SXM2-16GB", 16384, 7, 0},
    {"T4", "Tesla T4", 15360, 7, 5},
    {"RTX2080TI", "NVIDIA GeForce RTX 2080 Ti", 11264, 7, 5},
    {"A100", "NVIDIA A100-SXM4-80GB", 81920, 8, 0},
    {"A10040GB", "NVIDIA A100-SXM4-40GB", 40960, 8, 0},
    {"A10080GB", "NVIDIA A100-SXM4-80GB", 81920, 8, 0},
    {"A30", "NVIDIA A30", 24576, 8, 0},
    {"A10", "NVIDIA A10", 23028, 8, 6},
    {"A10G", "NVIDIA A10G", 23028, 8, 6},
    {"A40", "NVIDIA A40", 46068, 8, 6},
    {"A6000", "NVIDIA RTX A6000", 49140, 8, 6},
    {"RTX3090", "NVIDIA GeForce RTX 3090", 24576, 8, 6},
    {"L4", "NVIDIA L4", 23034, 8, 9},
    {"L40S", "NVIDIA L40S", 46068, 8, 9},
    {"RTX4090", "NVIDIA GeForce RTX 4090", 24564, 8, 9},
    {"H100", "NVIDIA H100 80GB HBM3", 81559, 9, 0},
    {"H200", "NVIDIA H200", 143771, 9, 0},
    {"B200", "NVIDIA B200", 183359, 10, 0},
    {"RTX5090", "NVIDIA GeForce RTX 5090", 32607, 12, 0},
};

// The name in upper case, without spaces, dashes and brand names.
std::string key_of(std::string_view name) {
  std::string key;
  for (const unsigned char c : name)
    if (c != ' ' && c != '-' && c != '_') key += static_cast<char>(std::toupper(c));
  for (const std::string_view brand : {"NVIDIA", "TESLA", "GEFORCE"})
    if (key.starts_with(brand)) key.erase(0, brand.size());
  return key;
}

}  // namespace

std::span<const GpuModel> gpu_catalogue() { return models; }

const GpuModel* find_gpu_model(std::string_view name) {
  const std::string key = key_of(name);
  for (const GpuModel& model : models)
    if (model.key == key || key_of(model.name) == key) return &model;
  return nullptr;
}

}  // namespace lockstep
