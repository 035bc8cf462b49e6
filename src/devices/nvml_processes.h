// The processes on a GPU, whatever the size of the rows that the driver writes.
//
// The functions that list them have kept their names while their rows grew: 16 bytes (pid, memory)
// without a number, 24 (and the instances of MIG) in _v2 and _v3, but 32 (and protected memory) in
// _v3 of drivers 535.43 to 535.86, and other sizes have been seen in single releases. So a row gets
// more room than any has had, and how long rows are is read off what the driver has written.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "devices/nvml_api.h"

namespace lockstep {

class ProcessRows {
 public:
  explicit ProcessRows(std::size_t rows);
  void* data() { return bytes_.data(); }
  std::size_t rows() const { return bytes_.size() / room; }
  // What the driver has written, `count` rows. documented: the bytes of a row, as the reference
  // manual has it, where that cannot be told. Nothing where no size makes sense of it.
  std::optional<std::vector<nvml::ProcessInfo>> read(std::size_t count,
                                                     std::size_t documented) const;

 private:
  static constexpr std::size_t room = 64;  // bytes a row
  std::optional<std::vector<nvml::ProcessInfo>> read_by(std::size_t size, std::size_t count) const;
  std::vector<unsigned char> bytes_;
};

// Of one function. size: of the list the last time, so that one call does mostly; it is kept up to
// date. Nothing: the driver lacks the function, refuses, or what it wrote makes no sense.
std::optional<std::vector<nvml::ProcessInfo>> running_processes(nvml::ListProcesses function,
                                                                nvml::Device device,
                                                                std::size_t documented,
                                                                std::size_t& size);

}  // namespace lockstep
