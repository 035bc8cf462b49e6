#include "core/devices/gpus/driver_traces.h"

#include <fstream>

#include "core/base/text/text.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

std::string first_word(const fs::path& path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return word;
}

}  // namespace

std::string driver_traces(const fs::path& root) {
  std::error_code ignored;
  for (const char* path : {"dev/nvidia0", "proc/driver/nvidia"}) {
    if (fs::exists(root / path, ignored)) return cat("/", path, " exists");
  }
  for (const auto& entry : fs::directory_iterator(root / "sys/bus/pci/devices", ignored)) {
    // PCI class 0x03 is a display controller, and vendor 0x10de is NVIDIA.
    if (first_word(entry.path() / "vendor") == "0x10de" &&
        first_word(entry.path() / "class").starts_with("0x03")) {
      return cat("PCI device ", entry.path().filename().string(), " is an NVIDIA GPU");
    }
  }
  return "";
}

}  // namespace lockstep
