// The processes on a GPU, whatever the size of the rows that the driver writes.
//
// The functions that list them kept their names while their rows grew. A row has 16 bytes (pid,
// memory) in the functions without a version number, and 24 (with the MIG instances) in _v2 and
// _v3. In _v3 of drivers 535.43 to 535.86 it has 32 (with protected memory), and single releases
// had other sizes. So each row gets more room than any driver has needed, and the row length is
// inferred from the driver's output.
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
  // The `count` rows that the driver has written. documented: bytes of a row by the reference
  // manual, used if the length cannot be inferred. Nothing if no length gives sensible rows.
  std::optional<std::vector<nvml::ProcessInfo>> read(std::size_t count,
                                                     std::size_t documented) const;

 private:
  static constexpr std::size_t room = 64;  // bytes for each row
  std::optional<std::vector<nvml::ProcessInfo>> read_by(std::size_t size, std::size_t count) const;
  std::vector<unsigned char> bytes_;
};

// Calls one function. size: the length of the last list, so that one call usually suffices; it is
// updated. Nothing if the driver lacks the function, refuses, or wrote rows that make no sense.
std::optional<std::vector<nvml::ProcessInfo>> running_processes(nvml::ListProcesses function,
                                                                nvml::Device device,
                                                                std::size_t documented,
                                                                std::size_t& size);

}  // namespace lockstep
