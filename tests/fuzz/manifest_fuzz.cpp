// A checkpoint's manifest, unchanged and with its checksum corrected. Without the correction, the
// code behind the checksum would never be reached. An accepted manifest must name only files inside
// the checkpoint.
#include "fuzz.h"

#include "runtime/run/checkpoint/manifest.h"
#include "runtime/run/events/json_lines.h"

namespace lockstep {
namespace {

void check_manifest(const std::string& text) {
  Manifest manifest;
  if (!fuzz::accepts([&] { manifest = parse_manifest(text); })) return;
  for (const auto& [name, file] : manifest.files) {
    LOCKSTEP_CHECK(name.find('/') == name.npos && name.find('\0') == name.npos);
    LOCKSTEP_CHECK(!name.empty() && name != "." && name != "..");
  }
  const std::string written = to_text(manifest);
  LOCKSTEP_CHECK(to_text(parse_manifest(written)) == written);
}

}  // namespace
}  // namespace lockstep

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  const std::string text(fuzz::text_of(data, size));
  check_manifest(text);
  if (const nlohmann::json value = parse_object(text); !value.is_discarded())
    check_manifest(sealed(value));
  return 0;
}
