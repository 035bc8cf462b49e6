// Reads TIFF stacks. Either each plane is a page, or one page is followed by the pixels of all
// other planes. ImageJ writes large stacks in the second form.
#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "recipes/volume/files/stack_layout.h"
#include "recipes/volume/files/tiff/imagej.h"
#include "recipes/volume/files/tiff/tiff_handle.h"
#include "recipes/volume/files/tiff/tiff_page.h"
#include "recipes/volume/files/volume_reader.h"

namespace lockstep::volume {
namespace {

// The state while pages are listed. It then contains all that the reader needs.
struct Stack {
  std::unique_ptr<ByteSource> source;
  std::unique_ptr<TiffStream> stream = std::make_unique<TiffStream>();
  TiffHandle tiff;
  std::vector<TiffPage> pages;
  std::vector<std::uint32_t> order;  // the same as StackLayout::pages
  // The offset of the first plane if planes follow each other without pages; 0 if each plane is a
  // page.
  std::uint64_t raw = 0;
  bool swapped = false;  // whether raw planes have the other byte order
  VolumeHeader header;

  [[noreturn]] void fail(const std::string& why, const std::string& hint = {}) const {
    if (stream->failure) std::rethrow_exception(stream->failure);
    throw Error(cat("cannot read ", source->name(), ": ", why), hint);
  }
  Refuse refuse() const {
    return [this](const std::string& why, const std::string& hint) { fail(why, hint); };
  }
  Refuse refuse_page() const {
    return [this, page = pages.size() + 1](const std::string& why, const std::string& hint) {
      fail(cat("page ", page, ": ", why), hint);
    };
  }
};

std::string describe(const TiffPage& page) {
  return cat(page.height, " x ", page.width, " ", name_of(page.type));
}

void add_page(Stack& stack, const ReadVolume& how) {
  const Refuse refuse = stack.refuse_page();
  const TiffPage page = describe_page(stack.tiff.get(), refuse);
  const auto planes = static_cast<std::int64_t>(stack.pages.size()) + 1;
  ReadVolume any_depth = how;
  any_depth.allow_2d = true;
  check_shape({.depth = planes, .height = page.height, .width = page.width}, stack.source->name(),
              any_depth);
  check_pixels(stack.tiff.get(), page, stack.source->size(), refuse);
  if (!stack.pages.empty()) {
    const TiffPage& first = stack.pages.front();
    if (describe(page) != describe(first) || page.white_is_zero != first.white_is_zero ||
        page.packing != first.packing)
      refuse(cat("it is ", describe(page), page.white_is_zero ? ", white first" : "",
                 ", but page 1 is ", describe(first), first.white_is_zero ? ", white first" : ""),
             "the pages of a stack must be of one size and type; a pyramid is not a stack");
  }
  stack.pages.push_back(page);
}

std::string description_of(TIFF* tiff) {
  char* text = nullptr;
  if (TIFFGetField(tiff, TIFFTAG_IMAGEDESCRIPTION, &text) != 1 || !text) return {};
  return text;
}

// Millimetres per pixel; 0 if unknown. A resolution in inches is ignored, because it is usually a
// program's default.
double pixel_mm(TIFF* tiff, std::uint32_t tag, const std::optional<ImageJ>& imagej) {
  float resolution = 0;
  std::uint16_t unit = RESUNIT_INCH;
  TIFFGetFieldDefaulted(tiff, TIFFTAG_RESOLUTIONUNIT, &unit);
  if (TIFFGetField(tiff, tag, &resolution) != 1) return 0;
  const double size = imagej && imagej->unit_mm > 0 ? imagej->unit_mm
                      : unit == RESUNIT_CENTIMETER  ? 10
                                                    : 0;
  const double pixel = size / static_cast<double>(resolution);
  return std::isfinite(pixel) && pixel > 0 ? pixel : 0;
}

std::optional<std::array<double, 3>> spacing_of(TIFF* tiff, const std::optional<ImageJ>& imagej) {
  const double z = imagej ? imagej->spacing * imagej->unit_mm : 0;
  const double y = pixel_mm(tiff, TIFFTAG_YRESOLUTION, imagej);
  const double x = pixel_mm(tiff, TIFFTAG_XRESOLUTION, imagej);
  if (z > 0 && y > 0 && x > 0) return std::array<double, 3>{z, y, x};
  return std::nullopt;
}

// ImageJ writes stacks of more than 4 GiB as one page, followed by the pixels of the other planes.
void find_raw_planes(Stack& stack, const ImageJ& imagej) {
  const VolumeHeader& header = stack.header;
  TIFF* const tiff = stack.tiff.get();
  std::uint16_t compression = COMPRESSION_NONE;
  TIFFGetFieldDefaulted(tiff, TIFFTAG_COMPRESSION, &compression);
  const std::uint64_t offset = TIFFGetStrileOffset(tiff, 0);
  const std::uint64_t bytes = plane_bytes(header) * static_cast<std::uint64_t>(imagej.images);
  if (stack.pages.front().packing != TiffPacking::none)
    stack.fail(cat("its description says images=", imagej.images,
                   ", but its one page is of 1 bit, or floats of 16"));
  if (compression != COMPRESSION_NONE || TIFFIsTiled(tiff))
    stack.fail(cat("its description says images=", imagej.images,
                   ", but it has one page, which is compressed"));
  if (bytes > stack.source->size() - offset)
    stack.fail(cat("it is truncated: its description says images=", imagej.images,
                   ", which would end at byte ", offset + bytes, ", the file ends at ",
                   stack.source->size()));
  stack.raw = offset;
  stack.swapped = TIFFIsByteSwapped(tiff) != 0;
}

// Whether the other planes follow the only page. A single slice may still have the description of
// its whole stack. So, where slices are allowed, the file must be long enough.
bool says_raw_planes(const Stack& stack, const std::optional<ImageJ>& imagej, bool allow_2d) {
  if (!imagej || imagej->images == 1 || stack.pages.size() != 1) return false;
  const TiffPage& page = stack.pages.front();
  const std::uint64_t behind = stack.source->size() - TIFFGetStrileOffset(stack.tiff.get(), 0);
  const auto plane = static_cast<std::uint64_t>(page.height * page.width) * bytes_of(page.type);
  return !allow_2d || behind / plane >= static_cast<std::uint64_t>(imagej->images);
}

void set_header(Stack& stack, const std::string& description, const ReadVolume& how) {
  const std::optional<ImageJ> imagej = parse_imagej(description);
  VolumeHeader& header = stack.header;
  const TiffPage& first = stack.pages.front();
  const bool raw = says_raw_planes(stack, imagej, how.allow_2d);
  const std::filesystem::path path = stack.source->name();
  StackLayout layout =
      stack_layout(description,
                   {.pages = raw ? imagej->images : static_cast<std::int64_t>(stack.pages.size()),
                    .height = first.height,
                    .width = first.width,
                    .file_name = path.filename().string(),
                    .allow_2d = how.allow_2d,
                    .as_planes = how.as_planes},
                   stack.refuse());
  stack.order = std::move(layout.pages);
  if (layout.spacing_mm) header.spacing_mm = layout.spacing_mm;
  header.type = first.type;
  header.white_is_zero = first.white_is_zero;
  header.shape = {layout.depth, first.height, first.width, layout.channels};
  check_shape(header.shape, stack.source->name(), how);
  if (raw) find_raw_planes(stack, *imagej);
}

class TiffReader : public VolumeReader {
 public:
  explicit TiffReader(Stack stack)
      : VolumeReader(stack.source->name(), stack.header), stack_(std::move(stack)) {}

 private:
  void read(std::int64_t z, std::int64_t channel, std::span<std::byte> out) override {
    const auto plane = static_cast<std::uint64_t>(z * header().shape.channels + channel);
    if (stack_.raw != 0)
      read_raw(plane, out);
    else
      read_page(stack_.order.empty() ? plane : stack_.order[plane], out);
  }
  void read_raw(std::uint64_t plane, std::span<std::byte> out) {
    stack_.source->read_all(stack_.raw + plane * out.size(), out);
    if (!stack_.swapped) return;
    const std::size_t size = bytes_of(header().type);
    for (std::size_t i = 0; i < out.size(); i += size) std::reverse(&out[i], &out[i] + size);
  }
  void read_page(std::uint64_t number, std::span<std::byte> out) {
    TIFF* const tiff = stack_.tiff.get();
    const TiffPage& page = stack_.pages[number];
    take_tiff_message();
    // Goes to the page by its offset, because libtiff finds a page number only by walking from the
    // first page.
    const bool there =
        TIFFCurrentDirOffset(tiff) == page.directory || TIFFSetSubDirectory(tiff, page.directory);
    if (!there || !read_pixels(tiff, page, out))
      stack_.fail(cat("page ", number + 1, ": ", take_tiff_message()));
  }

  Stack stack_;
};

}  // namespace

std::unique_ptr<VolumeReader> open_tiff(std::unique_ptr<ByteSource> source, const ReadVolume& how) {
  Stack stack;
  stack.source = std::move(source);
  stack.stream->source = stack.source.get();
  if (stack.source->size() == 0) stack.fail("it is empty");
  // m: no memory mapping. c: strips as they are in the file.
  stack.tiff = open_tiff_handle(*stack.stream, stack.source->name(), "rmc");
  if (!stack.tiff) stack.fail(cat("it is not a TIFF file, or truncated: ", take_tiff_message()));
  add_page(stack, how);
  const std::string description = description_of(stack.tiff.get());
  stack.header.spacing_mm = spacing_of(stack.tiff.get(), parse_imagej(description));
  while (!TIFFLastDirectory(stack.tiff.get())) {
    take_tiff_message();
    if (!TIFFReadDirectory(stack.tiff.get()))
      stack.fail(cat("page ", stack.pages.size() + 1, ": ", take_tiff_message()));
    add_page(stack, how);
  }
  set_header(stack, description, how);
  return std::make_unique<TiffReader>(std::move(stack));
}

std::optional<bool> has_one_page(const std::filesystem::path& path) try {
  const auto source = file_source(path);
  TiffStream stream{.source = source.get()};
  const TiffHandle tiff = open_tiff_handle(stream, path.string(), "rmc");
  take_tiff_message();
  if (!tiff) return std::nullopt;
  return TIFFLastDirectory(tiff.get()) != 0;
} catch (const Error&) {
  return std::nullopt;
}

}  // namespace lockstep::volume
