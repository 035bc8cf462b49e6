#include "runtime/run/formats/zip_directory.h"

#include <algorithm>
#include <istream>

#include "core/base/error.h"
#include "core/base/text/text.h"

namespace lockstep {
namespace {

constexpr std::uint64_t most_directory_bytes = 64 << 20;
constexpr std::uint32_t in_zip64 = 0xffffffff;

std::uint64_t number(const std::string& text, std::size_t at, int bytes) {
  std::uint64_t value = 0;
  for (int i = bytes; i-- > 0;)
    value = value << 8 | static_cast<unsigned char>(text[at + static_cast<std::size_t>(i)]);
  return value;
}

std::string read_at(std::istream& in, std::uint64_t file_bytes, std::uint64_t begin,
                    std::uint64_t bytes) {
  if (begin > file_bytes || bytes > file_bytes - begin)
    throw Error("its zip directory points beyond its end");
  std::string text(bytes, '\0');
  in.clear();
  in.seekg(static_cast<std::streamoff>(begin));
  if (!in.read(text.data(), static_cast<std::streamsize>(bytes))) throw Error("it cannot be read");
  return text;
}

struct Directory {
  std::uint64_t begin = 0, bytes = 0, members = 0;
};

Directory find_directory(std::istream& in, std::uint64_t file_bytes) {
  constexpr std::uint64_t end_bytes = 22, longest_comment = 65535, locator_bytes = 20;
  const std::uint64_t tail_bytes =
      std::min(file_bytes, end_bytes + longest_comment + locator_bytes);
  const std::string tail = read_at(in, file_bytes, file_bytes - tail_bytes, tail_bytes);
  const std::size_t end = tail.rfind("PK\5\6");
  if (end == tail.npos || tail.size() - end < end_bytes)
    throw Error("it begins as a zip archive, but has no directory at its end: it is cut off");
  Directory found{.begin = number(tail, end + 16, 4),
                  .bytes = number(tail, end + 12, 4),
                  .members = number(tail, end + 10, 2)};
  if (end < locator_bytes || tail.compare(end - locator_bytes, 4, "PK\6\7") != 0) return found;
  const std::string large = read_at(in, file_bytes, number(tail, end - locator_bytes + 8, 8), 56);
  if (large.compare(0, 4, "PK\6\6") != 0) throw Error("its zip64 directory is damaged");
  return {.begin = number(large, 48, 8),
          .bytes = number(large, 40, 8),
          .members = number(large, 32, 8)};
}

// Sizes above 4 GiB are stored in extra field 1. It holds only the values that need it, in this
// order.
void read_large(const std::string& extra, std::uint64_t& bytes, std::uint64_t& stored,
                std::uint64_t& local) {
  for (std::size_t at = 0; at + 4 <= extra.size();) {
    const std::size_t length = number(extra, at + 2, 2), begin = at + 4;
    if (length > extra.size() - begin) throw Error("its zip directory is damaged");
    if (number(extra, at, 2) == 1) {
      std::size_t next = begin;
      for (std::uint64_t* value : {&bytes, &stored, &local}) {
        if (*value != in_zip64) continue;
        if (next + 8 > begin + length) throw Error("its zip directory is damaged");
        *value = number(extra, next, 8);
        next += 8;
      }
    }
    at = begin + length;
  }
}

}  // namespace

std::map<std::string, ZipMember> read_zip_directory(std::istream& in, std::uint64_t file_bytes) {
  const Directory directory = find_directory(in, file_bytes);
  if (directory.bytes > most_directory_bytes) throw Error("its zip directory is too large");
  const std::string text = read_at(in, file_bytes, directory.begin, directory.bytes);
  std::map<std::string, ZipMember> members;
  constexpr std::size_t fixed_bytes = 46, local_bytes = 30;
  for (std::size_t at = 0; at < text.size();) {
    if (text.size() - at < fixed_bytes || text.compare(at, 4, "PK\1\2") != 0)
      throw Error("its zip directory is damaged");
    const std::size_t name_bytes = number(text, at + 28, 2), extra_bytes = number(text, at + 30, 2),
                      comment_bytes = number(text, at + 32, 2);
    if (text.size() - at - fixed_bytes < name_bytes + extra_bytes + comment_bytes)
      throw Error("its zip directory is damaged");
    const std::string name = text.substr(at + fixed_bytes, name_bytes);
    std::uint64_t stored = number(text, at + 20, 4), bytes = number(text, at + 24, 4),
                  local = number(text, at + 42, 4);
    read_large(text.substr(at + fixed_bytes + name_bytes, extra_bytes), bytes, stored, local);
    const bool packed =
        number(text, at + 10, 2) != 0 || (number(text, at + 8, 2) & 1) != 0 || stored != bytes;
    const std::string header = read_at(in, file_bytes, local, local_bytes);
    if (header.compare(0, 4, "PK\3\4") != 0) throw Error("its zip directory is damaged");
    const std::uint64_t begin = local + local_bytes + number(header, 26, 2) + number(header, 28, 2);
    if (begin > file_bytes || stored > file_bytes - begin)
      throw Error(cat("its member ", printable(name), " reaches beyond its end: it is cut off"));
    if (!members.emplace(name, ZipMember{begin, stored, packed}).second)
      throw Error(cat("its member ", printable(name), " is there twice"));
    at += fixed_bytes + name_bytes + extra_bytes + comment_bytes;
  }
  if (members.size() != directory.members)
    throw Error("its zip directory has not as many members as it says");
  return members;
}

}  // namespace lockstep
