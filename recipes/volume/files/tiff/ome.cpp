// Reads OME descriptions with expat. An error is stored, because exceptions must not pass through
// C.
#include "recipes/volume/files/tiff/ome.h"

#include <expat.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <new>

#include "core/base/text/text.h"
#include "core/base/whole_number.h"
#include "recipes/volume/files/tiff/imagej.h"

namespace lockstep::volume {
namespace {

constexpr const char* write_zyx = "write it with tifffile and metadata={'axes': 'ZYX'}";

class OmeParser {
 public:
  explicit OmeParser(const std::string& file_name)
      : file_name_(file_name), parser_(XML_ParserCreate(nullptr), &XML_ParserFree) {
    if (!parser_) throw std::bad_alloc();
    XML_SetUserData(parser_.get(), this);
    XML_SetElementHandler(
        parser_.get(),
        [](void* self, const XML_Char* element, const XML_Char** attributes) {
          static_cast<OmeParser*>(self)->start(element, attributes);
        },
        [](void* self, const XML_Char* element) { static_cast<OmeParser*>(self)->end(element); });
    XML_SetCharacterDataHandler(parser_.get(), [](void* self, const XML_Char* text, int length) {
      static_cast<OmeParser*>(self)->text_.append(text, static_cast<std::size_t>(length));
    });
    XML_SetStartDoctypeDeclHandler(
        parser_.get(), [](void* self, const XML_Char*, const XML_Char*, const XML_Char*, int) {
          static_cast<OmeParser*>(self)->stop("it declares a document type", write_zyx);
        });
  }

  Ome parse(std::string_view text, const Refuse& refuse) {
    const bool fits = text.size() <= std::numeric_limits<int>::max();
    const XML_Status status =
        fits ? XML_Parse(parser_.get(), text.data(), static_cast<int>(text.size()), /*isFinal=*/1)
             : XML_STATUS_ERROR;
    if (!fault_.empty()) refuse("its OME description: " + fault_, hint_);
    if (status != XML_STATUS_OK)
      refuse(
          cat("its OME description is no xml: ", XML_ErrorString(XML_GetErrorCode(parser_.get()))),
          write_zyx);
    if (images_ == 0 || ome_.order.empty()) refuse("its OME description names no image", write_zyx);
    set_spacing();
    return std::move(ome_);
  }

 private:
  using Attributes = std::map<std::string, std::string>;

  void stop(std::string fault, std::string hint) {
    if (!fault_.empty()) return;
    fault_ = std::move(fault);
    hint_ = std::move(hint);
    XML_StopParser(parser_.get(), XML_FALSE);
  }

  // Removes the prefix of a namespace.
  static std::string_view name_of(std::string_view element) {
    return element.substr(element.rfind(':') + 1);
  }

  void start(std::string_view element, const XML_Char** listed) {
    if (!fault_.empty()) return;
    const std::string_view name = name_of(element);
    text_.clear();
    Attributes attributes;
    for (; listed[0] != nullptr; listed += 2) attributes[listed[0]] = listed[1];
    if (name == "OME") {
      own_uuid_ = attributes["UUID"];
    } else if (name == "BinaryOnly") {
      stop(cat("it lies in another file, ", printable(attributes["MetadataFile"])), write_zyx);
    } else if (name.starts_with("ModuloAlong")) {
      stop(cat("its axis ", name.substr(name.size() - 1), " holds a further one (",
               printable(std::string(name)), ")"),
           write_zyx);
    } else if (name == "Image") {
      if (++images_ > 1) stop("it holds several images", "write each image as a file");
    } else if (name == "Pixels") {
      start_pixels(attributes);
    } else if (name == "TiffData") {
      start_pages(attributes);
    } else if (name == "UUID") {
      named_file_ = attributes["FileName"];
    }
  }

  void end(std::string_view element) {
    if (!fault_.empty() || name_of(element) != "UUID") return;
    const std::string uuid = trim(text_);
    const bool own =
        own_uuid_.empty() ? named_file_.empty() || named_file_ == file_name_ : uuid == own_uuid_;
    if (!own)
      stop(cat("some of its planes lie in another file, ", printable(named_file_)),
           "write all planes into one file");
  }

  // Returns the number of an attribute, or `least` if it is absent. A value that is no number of at
  // least `least` is an error.
  std::int64_t number(Attributes& attributes, const std::string& key, std::int64_t least) {
    if (!attributes.contains(key)) return least;
    const auto value = whole_number<std::int64_t>(attributes[key], least);
    if (!value) stop(cat(key, " is ", printable(attributes[key])), write_zyx);
    return value.value_or(least);
  }

  void start_pixels(Attributes& attributes) {
    ome_.depth = number(attributes, "SizeZ", 1);
    ome_.channels = number(attributes, "SizeC", 1);
    ome_.frames = number(attributes, "SizeT", 1);
    const std::string order = attributes["DimensionOrder"];
    const std::string rest = order.substr(std::min<std::size_t>(2, order.size()));
    std::string sorted = rest;
    std::sort(sorted.begin(), sorted.end());
    if (!order.starts_with("XY") || sorted != "CTZ")
      return stop(cat("DimensionOrder is ", printable(order)), write_zyx);
    ome_.order = rest;
    sizes_ = attributes;
  }

  void start_pages(Attributes& attributes) {
    OmePages pages{.page = number(attributes, "IFD", 0),
                   .first_z = number(attributes, "FirstZ", 0),
                   .first_channel = number(attributes, "FirstC", 0),
                   .first_t = number(attributes, "FirstT", 0)};
    if (attributes.contains("IFD")) pages.count = 1;
    if (attributes.contains("PlaneCount")) pages.count = number(attributes, "PlaneCount", 0);
    ome_.pages.push_back(pages);
  }

  double size_mm(const std::string& axis) {
    const std::string text = sizes_["PhysicalSize" + axis];
    const std::string unit = sizes_["PhysicalSize" + axis + "Unit"];
    double size = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (error != std::errc() || !std::isfinite(size) || size <= 0) return 0;
    const double mm = size * (unit.empty() ? 1e-3 : millimetres(unit));  // the default unit is µm
    return std::isfinite(mm) ? mm : 0;
  }

  void set_spacing() {
    const std::array<double, 3> spacing{size_mm("Z"), size_mm("Y"), size_mm("X")};
    if (spacing[0] > 0 && spacing[1] > 0 && spacing[2] > 0) ome_.spacing_mm = spacing;
  }

  std::string file_name_, own_uuid_, named_file_, text_, fault_, hint_;
  std::unique_ptr<std::remove_pointer_t<XML_Parser>, decltype(&XML_ParserFree)> parser_;
  Ome ome_;
  Attributes sizes_;
  int images_ = 0;
};

}  // namespace

bool is_ome(std::string_view description) {
  const std::string text = trim(description.substr(0, description.find('\0')));
  return text.starts_with('<') && text.ends_with("OME>");
}

Ome parse_ome(std::string_view description, const std::string& file_name, const Refuse& refuse) {
  const std::string text = trim(description.substr(0, description.find('\0')));
  return OmeParser(file_name).parse(text, refuse);
}

}  // namespace lockstep::volume
