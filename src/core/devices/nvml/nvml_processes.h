// Lists the processes on a GPU, whatever the size of the rows that the driver writes.
//
// NVML's functions kept their names while their rows grew. In functions without a version number, a
// row has 16 bytes (pid, memory). In _v2 and _v3, it has 24 bytes, with the MIG instances. In _v3
// of drivers 535.43 to 535.86, it has 32 bytes, with protected memory, and some releases had other
// sizes. So the buffer has more bytes per row than any driver has needed. The size of a row is
// inferred from the bytes that the driver has written.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/devices/nvml/nvml_api.h"

namespace lockstep {

class ProcessRows {
 public:
  explicit ProcessRows(std::size_t rows);
  void* data() { return bytes_.data(); }
  std::size_t rows() const { return bytes_.size() / room; }
  // Returns the `count` rows that the driver has written. documented: the size of a row in the
  // reference manual, which is used if the size cannot be inferred. Returns nothing if no size
  // gives rows with valid pids.
  std::optional<std::vector<nvml::ProcessInfo>> read(std::size_t count,
                                                     std::size_t documented) const;

 private:
  static constexpr std::size_t room = 64;  // bytes per row
  std::optional<std::vector<nvml::ProcessInfo>> read_by(std::size_t size, std::size_t count) const;
  std::vector<unsigned char> bytes_;
};

// Calls one of the functions that list processes. documented: as in ProcessRows::read. size: the
// number of rows in the last list, so that one call is usually enough; it is updated. Returns
// nothing if the driver lacks the function, reports an error, or has written rows without valid
// pids.
std::optional<std::vector<nvml::ProcessInfo>> running_processes(nvml::ListProcesses function,
                                                                nvml::Device device,
                                                                std::size_t documented,
                                                                std::size_t& size);

}  // namespace lockstep
