// Hashes have the published values and do not depend on how the bytes are cut.
#include "core/base/hash.h"

#include <gtest/gtest.h>

#include <set>

namespace lockstep {
namespace {

std::string hash_of(std::string_view bytes) {
  Hasher hasher;
  hasher.update(bytes);
  return hasher.hex();
}

std::string pattern(std::size_t size) {
  std::string bytes(size, '\0');
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>((i * 2654435761u) >> 13);
  return bytes;
}

TEST(Hasher, GivesThePublishedValueOfNoBytes) {
  EXPECT_EQ(hash_of(""), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(hash64(""), 0x2d06800538d394c2u);
}

TEST(Hasher, GivesTheSameAsTheHashOfAllBytesAtOnce) {
  for (const std::size_t size : {0u, 1u, 16u, 129u, 240u, 241u, 100000u})
    EXPECT_EQ(hash128_hex(pattern(size)), hash_of(pattern(size))) << size;
}

TEST(Hasher, DoesNotDependOnHowTheBytesAreCut) {
  for (const std::size_t size : {1u, 16u, 129u, 240u, 241u, 1024u, 100000u}) {
    const std::string bytes = pattern(size);
    for (const std::size_t piece : {1u, 7u, 256u, 4096u}) {
      if (size / piece > 20000) continue;
      Hasher hasher;
      for (std::size_t at = 0; at < size; at += piece)
        hasher.update(std::string_view(bytes).substr(at, piece));
      EXPECT_EQ(hasher.hex(), hash_of(bytes)) << size << " bytes in pieces of " << piece;
    }
  }
}

TEST(Hasher, GoesOnAfterHex) {
  Hasher hasher;
  hasher.update("ab");
  EXPECT_EQ(hasher.hex(), hash_of("ab"));
  hasher.update("cd");
  EXPECT_EQ(hasher.hex(), hash_of("abcd"));
}

TEST(Hasher, KeepsItsStateWhenMoved) {
  Hasher first;
  first.update("ab");
  Hasher second = std::move(first);
  second.update("cd");
  EXPECT_EQ(second.hex(), hash_of("abcd"));
}

TEST(Hasher, SeesEverySingleBit) {
  std::string bytes = pattern(512);
  std::set<std::string> wide{hash_of(bytes)};
  std::set<std::uint64_t> narrow{hash64(bytes)};
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    wide.insert(hash_of(bytes));
    narrow.insert(hash64(bytes));
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
  }
  EXPECT_EQ(wide.size(), bytes.size() * 8 + 1);
  EXPECT_EQ(narrow.size(), bytes.size() * 8 + 1);
}

}  // namespace
}  // namespace lockstep
