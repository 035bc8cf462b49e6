// Reads folders of slices. Each slice is a TIFF file with one page, a PNG file or a JPEG file.
#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "core/media/pictures/picture_file.h"
#include "recipes/volume/files/slice_names.h"
#include "recipes/volume/files/volume_reader.h"

namespace lockstep::volume {
namespace {

namespace fs = std::filesystem;

std::string ending_of(const fs::path& path) {
  std::string ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return ending;
}
bool is_tiff(const fs::path& path) {
  const std::string ending = ending_of(path);
  return ending == ".tif" || ending == ".tiff";
}
bool is_picture(const fs::path& path) {
  const std::string ending = ending_of(path);
  return ending == ".png" || ending == ".jpg" || ending == ".jpeg";
}

ReadPicture picture_how(const ReadVolume& how) {
  return {.turn = false,
          .stored = how.labels,
          .limits = {.pixels = static_cast<std::uint64_t>(how.limits.plane_voxels)}};
}

// The header of one slice.
VolumeHeader slice_header(const fs::path& path, ReadVolume how) {
  how.allow_2d = true;
  if (is_tiff(path)) {
    const VolumeHeader header = open_tiff(file_source(path), how)->header();
    if (header.shape.depth != 1 || header.shape.channels != 1)
      throw Error(
          cat("cannot read ", path.string(), ": it has ",
              header.shape.depth * header.shape.channels, " pages, where a slice is expected"),
          "name the file itself if it is a volume, not its folder");
    return header;
  }
  const ImageShape shape = read_picture_shape(path, picture_how(how));
  if (shape.channels != 1)
    throw Error(
        cat("cannot read ", path.string(), ": it is ", describe(shape), ", where grey is expected"),
        "a volume has one value a voxel: convert it to grey");
  VolumeHeader header;
  header.shape = {.depth = 1, .height = shape.height, .width = shape.width};
  header.type = shape.bits == 16 ? VoxelType::u16 : VoxelType::u8;
  check_shape(header.shape, path.string(), how);
  return header;
}

void read_picture_into(const fs::path& path, const ReadVolume& how, std::span<std::byte> out) {
  const Image image = read_picture(path, picture_how(how));
  const auto bytes = image.bits() == 16 ? std::as_bytes(image.u16()) : std::as_bytes(image.u8());
  if (image.channels() != 1 || bytes.size() != out.size())
    throw Error(cat("cannot read ", path.string(), ": it has changed since it was looked at"));
  std::memcpy(out.data(), bytes.data(), out.size());
}

class SlicesReader : public VolumeReader {
 public:
  SlicesReader(const fs::path& path, const VolumeHeader& header, std::vector<fs::path> slices,
               const ReadVolume& how)
      : VolumeReader(path.string(), header), slices_(std::move(slices)), how_(how) {
    how_.allow_2d = true;
  }

 private:
  void read(std::int64_t z, std::int64_t, std::span<std::byte> out) override {
    const fs::path& path = slices_[static_cast<std::size_t>(z)];
    if (!is_tiff(path)) return read_picture_into(path, how_, out);
    const std::unique_ptr<VolumeReader> slice = open_tiff(file_source(path), how_);
    if (plane_bytes(slice->header()) != out.size() || slice->header().type != header().type)
      throw Error(cat("cannot read ", path.string(), ": it has changed since it was looked at"));
    slice->read_plane(0, 0, out);
  }

  std::vector<fs::path> slices_;
  ReadVolume how_;
};

std::vector<std::string> slice_names(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with('.') && (is_tiff(name) || is_picture(name))) names.push_back(name);
  }
  if (error) throw Error(cat("cannot read ", folder.string(), ": ", error.message()));
  std::sort(names.begin(), names.end(), natural_less);
  return names;
}

std::string describe_slice(const VolumeHeader& header) {
  return cat(header.shape.height, " x ", header.shape.width, " ", name_of(header.type));
}

}  // namespace

std::unique_ptr<VolumeReader> open_folder(const fs::path& path, const ReadVolume& how) {
  const std::vector<std::string> names = slice_names(path);
  if (names.empty())
    throw Error(cat("cannot read ", path.string(), ": the folder holds no slices"),
                "slices are files .tif, .png or .jpg with numbers in their names: convert others");
  std::vector<VolumeHeader> headers;
  std::vector<fs::path> slices;
  for (const std::string& name : names) {  // an error in a slice is reported before gaps
    headers.push_back(slice_header(path / name, how));
    slices.push_back(path / name);
  }
  if (const std::string gap = find_gap(names); !gap.empty())
    throw Error(cat("cannot read ", path.string(), ": ", gap),
                "a folder holds the slices of one volume, all of them");
  for (std::size_t i = 1; i < headers.size(); ++i)
    if (describe_slice(headers[i]) != describe_slice(headers[0]))
      throw Error(
          cat("cannot read ", path.string(), ": ", names[i], " is ", describe_slice(headers[i]),
              ", but ", names[0], " is ", describe_slice(headers[0])),
          "the slices of a volume must be of one size and type");
  VolumeHeader header = headers[0];
  header.spacing_mm.reset();
  header.white_is_zero = std::any_of(headers.begin(), headers.end(),
                                     [](const VolumeHeader& slice) { return slice.white_is_zero; });
  header.shape.depth = std::ssize(names);
  check_shape(header.shape, path.string(), how);
  return std::make_unique<SlicesReader>(path, header, std::move(slices), how);
}

std::unique_ptr<VolumeReader> open_picture(const fs::path& path, const ReadVolume& how) {
  const VolumeHeader header = slice_header(path, how);
  check_shape(header.shape, path.string(), how);
  return std::make_unique<SlicesReader>(path, header, std::vector{path}, how);
}

}  // namespace lockstep::volume
