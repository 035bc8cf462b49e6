// Reads OME-XML from the description of a TIFF: axes, the order of pages, and sizes of voxels.
// https://docs.openmicroscopy.org/ome-model/6.2.2/ome-tiff/specification.html
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "recipes/volume/files/volume_header.h"

namespace lockstep::volume {

// A run of consecutive pages, from an XML element TiffData.
struct OmePages {
  std::int64_t page = 0;  // the first page of the run (attribute IFD)
  std::int64_t first_z = 0, first_channel = 0, first_t = 0;  // the plane in that page
  std::optional<std::int64_t> count{};  // number of pages; no value: all remaining ones
};

struct Ome {
  std::int64_t depth = 1, channels = 1, frames = 1;
  std::string order;            // for example "CZT": the axis that changes fastest is first
  std::vector<OmePages> pages;  // if empty, all pages of the file in their order
  std::optional<std::array<double, 3>> spacing_mm;  // z, y, x; no value unless all are stated
};

bool is_ome(std::string_view description);
// Parses the description. Calls `refuse` for text that is not XML, and for descriptions of several
// images or of planes in other files. Also calls it for axes that combine two dimensions.
// file_name: the name of the file without its folder.
Ome parse_ome(std::string_view description, const std::string& file_name, const Refuse& refuse);

}  // namespace lockstep::volume
