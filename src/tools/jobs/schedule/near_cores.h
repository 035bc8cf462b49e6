// Cores on the same NUMA node as a device.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

// Parses the kernel's list format, "0-31,64-95"; empty if the text is not a list.
std::vector<int> cores_of_list(std::string_view list);

// Numbers of the cores near a PCI device ("0000:17:00.0"), in order. Empty if they are unknown, or
// if all cores are near.
std::vector<int> near_cores(const std::string& pci_bus_id, const std::filesystem::path& root = "/");

}  // namespace lockstep
