// Lines of a notebook that only its kernel runs.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace lockstep::cli {

// Commands of a shell (!ls, a = !ls) and magics (%time). nbconvert makes calls of get_ipython() of
// them.
struct KernelLines {
  std::size_t count = 0;
  std::string first;
};

// Reads the code cells of a notebook (nbformat 4). No lines if the file cannot be read.
KernelLines kernel_lines(const std::filesystem::path& notebook);

}  // namespace lockstep::cli
