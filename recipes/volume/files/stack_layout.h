// Determines which page of a TIFF contains which plane and channel, from the description in its
// first page.
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
  // The page of plane z and channel c is pages[z * channels + c]. If `pages` is empty, the page is
  // z * channels + c.
  std::vector<std::uint32_t> pages{};
  std::optional<std::array<double, 3>> spacing_mm{};  // z, y, x; only from OME-XML
};

// The facts about a file that its layout depends on.
struct DescribedTiff {
  // number of pages, or of planes if all but the first plane have no page of their own
  std::int64_t pages = 1;
  std::int64_t height = 0, width = 0;
  std::string file_name;   // name of the file without its folder
  bool allow_2d = false;   // if false, a single plane with several channels is refused
  bool as_planes = false;  // ReadVolume::as_planes
};

// Returns the layout that the description states. The description may be that of ImageJ, OME-XML or
// tifffile's JSON. Without such a description, each page is a plane. With tiff.as_planes, channels
// or times of a single plane become planes. For these descriptions, `refuse` is called, which
// throws Error:
//   - time series, except with as_planes as above
//   - axes that are not planes, channels or times, or whose meaning is unclear
//   - descriptions that contradict the number of pages
StackLayout stack_layout(std::string_view description, const DescribedTiff& tiff,
                         const Refuse& refuse);

}  // namespace lockstep::volume
