// Finds the training engine of a wheel, and the torch of the Python environment that it is
// installed in. The wheel has one engine per minor version of torch (docs/design/wheel-plan.md).
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace lockstep {

struct InstalledTorch {
  std::filesystem::path folder;  // the Python package, with lib/ and version.py
  std::string version;           // for example "2.11.0+cu130"
};

struct WheelEngine {
  std::filesystem::path folder;  // PREFIX/lib/lockstep/torch-2.11
  InstalledTorch torch;
};

// Returns "2.11" for "2.11.0+cu130". The result is empty if the text does not begin with two
// numbers.
std::string minor_version(const std::string& version);

// Asks the Python in `prefix/bin` where torch is, or `python3` in PATH if there is none. Python
// does not import torch for that. Throws Error if no Python can be started, if it finds no torch,
// or if the torch that it finds states no version.
InstalledTorch find_torch(const std::filesystem::path& prefix);

// Returns the engine in `prefix` for the torch that find_torch finds. Returns nothing if `prefix`
// holds no engine of a wheel. Throws Error if none of its engines is for this version of torch.
std::optional<WheelEngine> find_engine(const std::filesystem::path& prefix);

}  // namespace lockstep
