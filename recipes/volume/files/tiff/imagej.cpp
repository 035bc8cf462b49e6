// Parses ImageJ's description: lines of key=value.
#include "recipes/volume/files/tiff/imagej.h"

#include <charconv>
#include <cmath>
#include <utility>

#include "core/base/text/text.h"
#include "core/base/whole_number.h"

namespace lockstep::volume {
namespace {

double positive(std::string_view text) {
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && std::isfinite(value) && value > 0 ? value : 0;
}

}  // namespace

double millimetres(std::string_view unit) {
  static constexpr std::pair<std::string_view, double> units[] = {
      {"nm", 1e-6},        {"nanometer", 1e-6},  {"um", 1e-3},       {"micron", 1e-3},
      {"microns", 1e-3},   {"micrometer", 1e-3}, {"\\u00B5m", 1e-3}, {"\xC2\xB5m", 1e-3},
      {"\xCE\xBCm", 1e-3}, {"\xB5m", 1e-3},      {"mm", 1},          {"millimeter", 1},
      {"cm", 10},          {"centimeter", 10},   {"m", 1000},        {"inch", 25.4},
      {"in", 25.4},        {"\xC3\x85", 1e-7}};
  for (const auto& [name, size] : units)
    if (unit == name) return size;
  return 0;
}

std::optional<ImageJ> parse_imagej(std::string_view description) {
  if (!description.starts_with("ImageJ=")) return std::nullopt;
  ImageJ said;
  for (const std::string& line : split(description, '\n')) {
    const std::size_t equals = line.find('=');
    if (equals == line.npos) continue;
    const std::string key = line.substr(0, equals), value = trim(line.substr(equals + 1));
    const auto count = [&] { return whole_number<std::int64_t>(value, 1).value_or(1); };
    if (key == "images") said.images = count();
    if (key == "channels") said.channels = count();
    if (key == "slices") said.slices = count();
    if (key == "frames") said.frames = count();
    if (key == "spacing") said.spacing = positive(value);
    if (key == "unit") said.unit_mm = millimetres(value);
  }
  return said;
}

std::string imagej_description(std::int64_t images, double spacing_mm) {
  char number[40];
  const auto end = std::to_chars(number, number + sizeof number, spacing_mm).ptr;
  return cat("ImageJ=1.53t\nimages=", images, "\nslices=", images, "\nunit=mm\nspacing=",
             std::string_view(number, static_cast<std::size_t>(end - number)), "\nloop=false\n");
}

}  // namespace lockstep::volume
