#include "tools/jobs/process/out_of_memory.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "core/base/text/cells.h"
#include "core/base/text/text.h"
#include "runtime/launch/output/log_tail.h"

namespace lockstep {
namespace {

constexpr std::size_t tail_of_memory_bytes = 64 << 10;
constexpr int tail_lines = 200;
constexpr int most_cells = 160;  // PyTorch's line continues with all processes on the device

// In lower case. Lines with "out of memory" count only if they also mention a device.
constexpr std::string_view certain[] = {"outofmemoryerror",
                                        "cudaerrormemoryallocation",
                                        "cuda_error_out_of_memory",
                                        "cublas_status_alloc_failed",
                                        "cudnn_status_alloc_failed",
                                        "cusolver_status_alloc_failed",
                                        "resource_exhausted",
                                        "cl_mem_object_allocation_failure",
                                        "memory object allocation failure"};
constexpr std::string_view devices[] = {"cuda", "gpu", "device", "hip", "nccl"};

bool says_so(std::string line) {
  for (char& c : line)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  const auto in_line = [&](std::string_view words) { return line.find(words) != line.npos; };
  if (std::any_of(std::begin(certain), std::end(certain), in_line)) return true;
  return in_line("out of memory") && std::any_of(std::begin(devices), std::end(devices), in_line);
}

}  // namespace

std::string out_of_memory_line(const std::filesystem::path& log) {
  const std::string tail = last_lines_of_file(log, tail_lines, tail_of_memory_bytes);
  for (const std::string& line : split(tail, '\n'))
    if (says_so(line)) return cut_cells(clean_cells(trim(line)), most_cells, "…");
  return {};
}

}  // namespace lockstep
