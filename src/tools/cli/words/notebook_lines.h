// Counts the lines of a notebook that only a notebook kernel can run.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace lockstep::cli {

// Shell commands (!ls, a = !ls) and magics (%time). nbconvert converts them to calls of
// get_ipython().
struct KernelLines {
  std::size_t count = 0;
  std::string first;
};

// Reads the code cells of a notebook (nbformat 4). The count is 0 if the file cannot be read.
KernelLines kernel_lines(const std::filesystem::path& notebook);

}  // namespace lockstep::cli
