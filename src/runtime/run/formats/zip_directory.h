// Lists the members of a zip archive, and where their bytes are. Source: PKWARE's APPNOTE, sections
// 4.3.7 to 4.3.16.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>

namespace lockstep {

struct ZipMember {
  std::uint64_t begin = 0, bytes = 0;  // offset and size of its stored bytes in the archive
  bool packed = false;  // compressed or encrypted, so the stored bytes are not the contents
};

// Returns the members by name. Archives may be larger than 4 GiB. Throws Error if the archive is
// damaged, or split into several files.
std::map<std::string, ZipMember> read_zip_directory(std::istream& in, std::uint64_t file_bytes);

}  // namespace lockstep
