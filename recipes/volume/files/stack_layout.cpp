// Finds the order of pages in a stack. ImageJ's order is fixed, OME states its order, and tifffile
// uses the order of the array.
#include "recipes/volume/files/stack_layout.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/json/json.h"
#include "core/base/text/text.h"
#include "recipes/volume/files/tiff/ome.h"

namespace lockstep::volume {
namespace {

constexpr const char* planes_hint =
    "if they are planes, set files.as_planes=true, or write it with tifffile and metadata={'axes': "
    "'ZYX'}";

std::string page_count(std::int64_t pages) {
  return pages == 1 ? "one page" : cat(pages, " pages");
}

struct Extents {
  std::int64_t depth = 1, channels = 1, frames = 1;
  bool is_series() const { return depth == 1 && channels == 1 && frames > 1; }
};

void check_axes(const Extents& extents, const char* source, const DescribedTiff& tiff,
                const Refuse& refuse) {
  if (extents.frames > 1)
    refuse(cat("it is a time series of ", extents.frames, " frames, as its description (", source,
               ") says"),
           extents.depth == 1 && extents.channels == 1
               ? cat("write each frame as a file; ", planes_hint)
               : "write each frame as a file");
  if (extents.depth == 1 && extents.channels > 1 && !tiff.allow_2d && !tiff.as_planes)
    refuse(cat("its ", extents.channels, " pages are channels of one plane, as its description (",
               source, ") says"),
           planes_hint);
}

void refuse_count(const Extents& extents, const char* source, const DescribedTiff& tiff,
                  const Refuse& refuse) {
  refuse(cat("its description (", source, ") says ", extents.channels, " x ", extents.depth, " x ",
             extents.frames, " channels, planes and frames, but it has ", page_count(tiff.pages)),
         "write it anew: its pages were cut off, or others were added");
}

StackLayout layout_of_imagej(const ImageJ& said, const DescribedTiff& tiff, const Refuse& refuse) {
  Extents extents{.depth = said.slices, .channels = said.channels, .frames = said.frames};
  if (tiff.as_planes && extents.is_series() && extents.frames == tiff.pages)
    std::swap(extents.frames, extents.channels);
  // The number of slices is computed, because some programs do not write it. Others cut a stack and
  // keep its description.
  const std::int64_t depth = tiff.pages / extents.channels / extents.frames;
  check_axes({.depth = depth, .channels = extents.channels, .frames = extents.frames}, "ImageJ",
             tiff, refuse);
  if (tiff.pages % extents.channels != 0 ||
      (extents.channels > 1 && extents.depth > 1 && extents.depth != depth))
    refuse_count(extents, "ImageJ", tiff, refuse);
  return {.depth = depth, .channels = extents.channels};
}

// The position of a plane in the given order of axes.
std::int64_t place_in(const std::string& order, const Extents& extents, const Extents& at) {
  std::int64_t place = 0, stride = 1;
  for (const char axis : order) {
    const auto [size, index] = axis == 'Z'   ? std::pair(extents.depth, at.depth)
                               : axis == 'C' ? std::pair(extents.channels, at.channels)
                                             : std::pair(extents.frames, at.frames);
    place += stride * index;
    stride *= size;
  }
  return place;
}

// The page of each plane.
std::vector<std::int64_t> pages_of(const Ome& ome, const Extents& extents,
                                   const DescribedTiff& tiff, const Refuse& refuse) {
  std::vector<std::int64_t> pages(static_cast<std::size_t>(tiff.pages), -1);
  std::vector<OmePages> blocks = ome.pages;
  if (blocks.empty()) blocks.emplace_back();
  for (const OmePages& block : blocks) {
    if (block.first_z >= extents.depth || block.first_channel >= extents.channels ||
        block.first_t >= extents.frames)
      continue;  // another program cut the stack and kept its description
    const std::int64_t begin = place_in(
        ome.order, extents,
        {.depth = block.first_z, .channels = block.first_channel, .frames = block.first_t});
    const std::int64_t count = std::min(block.count.value_or(tiff.pages), tiff.pages - begin);
    for (std::int64_t i = 0; i < count; ++i) {
      if (block.page >= tiff.pages - i)
        refuse(cat("its OME description names IFD ", block.page + i,
                   ", counted from 0, but it has ", page_count(tiff.pages)),
               "write it anew");
      std::int64_t& page = pages[static_cast<std::size_t>(begin + i)];
      if (page >= 0) refuse("its OME description names two pages for one plane", "write it anew");
      page = block.page + i;
    }
  }
  if (std::find(pages.begin(), pages.end(), -1) != pages.end())
    refuse("its OME description does not name a page for every plane", "write it anew");
  return pages;
}

// Exchanges times and channels.
void swap_times(Ome& ome) {
  std::swap(ome.channels, ome.frames);
  for (char& axis : ome.order) axis = axis == 'C' ? 'T' : axis == 'T' ? 'C' : axis;
  for (OmePages& pages : ome.pages) std::swap(pages.first_channel, pages.first_t);
}

StackLayout layout_of_ome(Ome ome, const DescribedTiff& tiff, const Refuse& refuse) {
  if (tiff.as_planes && ome.depth == 1 && ome.channels == 1) swap_times(ome);
  const Extents extents{.depth = ome.depth, .channels = ome.channels, .frames = ome.frames};
  check_axes(extents, "OME", tiff, refuse);
  // Each factor is checked first, so that the product cannot overflow.
  if (std::max({ome.depth, ome.channels, ome.frames}) > tiff.pages ||
      ome.depth * ome.channels * ome.frames != tiff.pages)
    refuse_count(extents, "OME", tiff, refuse);
  const std::vector<std::int64_t> pages = pages_of(ome, extents, tiff, refuse);
  StackLayout layout{
      .depth = ome.depth, .channels = ome.channels, .pages = {}, .spacing_mm = ome.spacing_mm};
  for (std::int64_t z = 0; z < ome.depth; ++z)
    for (std::int64_t c = 0; c < ome.channels; ++c) {
      const std::int64_t place =
          place_in(ome.order, extents, {.depth = z, .channels = c, .frames = 0});
      layout.pages.push_back(static_cast<std::uint32_t>(pages[static_cast<std::size_t>(place)]));
    }
  return layout;
}

// tifffile's description of an array: its shape, and its axes if they were given.
struct Shaped {
  std::vector<std::int64_t> shape;
  std::string axes;  // empty if the description has none
};

std::optional<Shaped> parse_shaped(std::string_view description) {
  if (!description.starts_with('{')) return std::nullopt;
  const nlohmann::json json = parse_json(description.substr(0, description.find('\0')));
  if (!json.is_object() || !json.contains("shape") || !json["shape"].is_array())
    return std::nullopt;
  Shaped shaped;
  for (const auto& extent : json["shape"]) {
    if (!extent.is_number_integer() || extent.get<std::int64_t>() < 1) return std::nullopt;
    shaped.shape.push_back(extent.get<std::int64_t>());
  }
  if (json.contains("axes") && json["axes"].is_string()) shaped.axes = json["axes"];
  if (shaped.axes.size() != shaped.shape.size()) shaped.axes.clear();
  return shaped;
}

std::string shape_text(const Shaped& shaped) {
  std::vector<std::string> extents;
  for (const std::int64_t extent : shaped.shape) extents.push_back(cat(extent));
  return join(extents, " x ");
}

// Finds the layout from the axes before Y and X. At most one may be depth and at most one channels.
StackLayout layout_of_shaped(const Shaped& shaped, const DescribedTiff& tiff,
                             const Refuse& refuse) {
  const StackLayout plain{.depth = tiff.pages};
  const std::size_t axes = shaped.shape.size();
  if (axes < 2 || shaped.shape[axes - 2] != tiff.height || shaped.shape[axes - 1] != tiff.width)
    return plain;  // another program changed the pages and kept the description
  const std::string axes_hint =
      "name its axes: tifffile.imwrite(NEW, array, metadata={'axes': 'CZYX'}), with Z for planes "
      "and C for channels";
  const std::string said =
      cat("its description (tifffile) says ", shape_text(shaped),
          shaped.axes.empty() ? "" : " with the axes " + printable(shaped.axes));
  if (!shaped.axes.empty() && !shaped.axes.ends_with("YX"))
    refuse(cat(said, ", where the last ones must be Y and X"), axes_hint);
  Extents extents;
  std::int64_t planes = 1;
  bool channels_first = true;
  for (std::size_t i = 0; i + 2 < axes; ++i) {
    const std::int64_t extent = shaped.shape[i];
    if (extent == 1) continue;
    if (extent > tiff.pages / planes) {
      planes = tiff.pages + 1;
      break;
    }
    planes *= extent;
    const char axis = shaped.axes.empty() ? 'Q' : shaped.axes[i];
    std::int64_t* const known = axis == 'T'                                 ? &extents.frames
                                : axis == 'C'                               ? &extents.channels
                                : axis == 'Z' || axis == 'Q' || axis == 'I' ? &extents.depth
                                                                            : nullptr;
    if (known == nullptr || *known != 1)
      refuse(known == nullptr ? cat(said, ", of which ", axis, " is not read")
                              : cat(said, ", which does not say what is a channel"),
             axes_hint);
    if (known == &extents.channels) channels_first = extents.depth == 1;
    *known = extent;
  }
  if (planes == 1) return plain;  // each page is an array of its own
  if (tiff.as_planes && extents.is_series()) std::swap(extents.frames, extents.channels);
  check_axes(extents, "tifffile", tiff, refuse);
  if (planes != tiff.pages)
    refuse(cat(said, ", but it has ", page_count(tiff.pages)),
           "write it anew, one array a file, by a page a plane");
  StackLayout layout{.depth = extents.depth, .channels = extents.channels};
  if (channels_first && extents.channels > 1)
    for (std::int64_t z = 0; z < extents.depth; ++z)
      for (std::int64_t c = 0; c < extents.channels; ++c)
        layout.pages.push_back(static_cast<std::uint32_t>(c * extents.depth + z));
  return layout;
}

StackLayout layout_as_said(std::string_view description, const DescribedTiff& tiff,
                           const Refuse& refuse) {
  // A slice in a folder is one plane, even if its description is that of the whole stack.
  if (tiff.pages == 1 && tiff.allow_2d) return {};
  if (const auto imagej = parse_imagej(description)) return layout_of_imagej(*imagej, tiff, refuse);
  if (is_ome(description))
    return layout_of_ome(parse_ome(description, tiff.file_name, refuse), tiff, refuse);
  if (const auto shaped = parse_shaped(description)) return layout_of_shaped(*shaped, tiff, refuse);
  return {.depth = tiff.pages};
}

}  // namespace

StackLayout stack_layout(std::string_view description, const DescribedTiff& tiff,
                         const Refuse& refuse) {
  StackLayout layout = layout_as_said(description, tiff, refuse);
  if (tiff.as_planes && layout.depth == 1) std::swap(layout.depth, layout.channels);
  return layout;
}

}  // namespace lockstep::volume
