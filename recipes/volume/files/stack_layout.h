// Assigns pages of a TIFF to planes and channels, by the description of its first page.
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
  std::vector<std::uint32_t>
      pages{};  // page of plane z and channel c: [z * channels + c]; empty: page of that index
  std::optional<std::array<double, 3>> spacing_mm{};  // z, y, x, from OME
};

// Known facts about a file whose description is read.
struct DescribedTiff {
  std::int64_t pages = 1;  // or planes that follow the only page
  std::int64_t height = 0, width = 0;
  std::string file_name;   // without its folder
  bool allow_2d = false;   // if false, several channels of one plane are refused
  bool as_planes = false;  // ReadVolume::as_planes
};

// The layout by ImageJ's description, OME-XML or tifffile's JSON. Without a description, each page
// is a plane. Refuses times, axes that are not named or mean something else, and descriptions that
// do not fit the pages.
StackLayout stack_layout(std::string_view description, const DescribedTiff& tiff,
                         const Refuse& refuse);

}  // namespace lockstep::volume
