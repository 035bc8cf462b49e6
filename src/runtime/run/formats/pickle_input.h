// Reads the bytes of a pickle in the units of its opcodes.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>

namespace lockstep {

// All functions throw Error if the stream ends, or if they would read more than `limit` bytes in
// all.
class PickleInput {
 public:
  PickleInput(std::istream& in, std::uint64_t limit) : in_(in), left_(limit) {}

  std::string bytes(std::uint64_t count);
  unsigned char byte();
  std::uint64_t number(int bytes);  // unsigned, little-endian
  std::string line();               // a line without its newline

 private:
  std::istream& in_;
  std::uint64_t left_;
};

}  // namespace lockstep
