// Zip archives. Each extracted file must lie in the folder, and have the length that the directory
// states.
#include "fuzz.h"

#include <algorithm>

#include "core/base/files/files.h"
#include "core/media/zip_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  constexpr std::uint64_t most_bytes = 1 << 16;
  constexpr std::size_t most_entries = 4;
  static const fuzz::MemoryFile archive;
  static const TemporaryDirectory folder;
  archive.write(fuzz::text_of(data, size));
  fuzz::accepts([&] {
    ZipReader zip(archive.path());
    for (std::size_t i = 0; i < std::min(zip.entries().size(), most_entries); ++i) {
      if (zip.entries()[i].bytes > most_bytes) continue;
      std::filesystem::path path;
      if (!fuzz::accepts([&] { path = zip.extract(i, folder.path()); })) continue;
      LOCKSTEP_CHECK(path.parent_path() == folder.path());
      LOCKSTEP_CHECK(std::filesystem::file_size(path) == zip.entries()[i].bytes);
    }
  });
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    std::filesystem::remove(entry.path());
  return 0;
}
