// Finds out from the description of a TIFF's first page which page holds which plane and channel.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "recipes/volume/files/tiff/imagej.h"
#include "recipes/volume/files/volume_header.h"

namespace lockstep::volume {

struct StackLayout {
  std::int64_t depth = 1, channels = 1;
  // The page of plane z and channel c is pages[z * channels + c]. If `pages` is empty, the page has
  // that index itself.
  std::vector<std::uint32_t> pages{};
  std::optional<std::array<double, 3>> spacing_mm{};  // z, y, x; only from OME-XML
};

// The facts about a file that its layout depends on.
struct DescribedTiff {
  // number of pages, or of planes if all of them follow a single page
  std::int64_t pages = 1;
  std::int64_t height = 0, width = 0;
  std::string file_name;   // without the folder
  bool allow_2d = false;   // if false, one plane of several channels is refused
  bool as_planes = false;  // ReadVolume::as_planes
};

// Returns the layout that the description states, in the form of ImageJ, OME-XML or tifffile's
// JSON. Without such a description, each page is a plane. With as_planes, channels or times of a
// single plane become planes. These descriptions are refused:
//   - other time series
//   - axes that are not planes, channels or times, or whose meaning is not clear
//   - descriptions that contradict the number of pages
StackLayout stack_layout(std::string_view description, const DescribedTiff& tiff,
                         const Refuse& refuse);

}  // namespace lockstep::volume
