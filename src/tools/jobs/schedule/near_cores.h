// Finds the CPU cores on the same NUMA node as a device.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

// Parses the kernel's format for lists of cores, "0-31,64-95". Returns an empty list if the text is
// not in this format.
std::vector<int> cores_of_list(std::string_view list);

// Returns the numbers of the cores near a PCI device ("0000:17:00.0"), in order. Returns an empty
// list if these cores are unknown. root: replaces "/" in tests.
std::vector<int> near_cores(const std::string& pci_bus_id, const std::filesystem::path& root = "/");

}  // namespace lockstep
