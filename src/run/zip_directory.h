// Which files lie in a zip archive, and where.
// Source: PKWARE's APPNOTE, sections 4.3.7 to 4.3.16.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>

namespace lockstep {

struct ZipMember {
  std::uint64_t begin = 0, bytes = 0;  // of its content in the archive
  bool packed = false;                 // compressed or encrypted: these bytes are not its own
};

// By name, also of archives above 4 GiB. Throws Error where the archive is damaged, or in parts.
std::map<std::string, ZipMember> read_zip_directory(std::istream& in, std::uint64_t file_bytes);

}  // namespace lockstep
