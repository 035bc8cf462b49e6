// Finds the torch of the Python environment that Lockstep's wheel is installed in.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace lockstep {

struct InstalledTorch {
  std::filesystem::path folder;  // the package, with lib/ and version.py
  std::string version;           // "2.11.0+cu130"
};

// "2.11" of "2.11.0+cu130". The result is empty if the text does not begin with two numbers.
std::string minor_version(const std::string& version);

// Asks the Python of `prefix` where torch is, or python3 of PATH if `prefix/bin` holds no Python.
// Python does not import torch for that. Throws Error if there is no Python, if it finds no torch,
// or if the torch that it finds has no readable version.
InstalledTorch find_torch(const std::filesystem::path& prefix);

// The folder engines/torch-2.11 that was built for this version of torch. Throws Error that names
// the versions in `engines` if there is none.
std::filesystem::path engine_for(const std::filesystem::path& engines, const InstalledTorch& torch);

}  // namespace lockstep
