// The bytes of a pickle, as its opcodes take them.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>

namespace lockstep {

// Throws Error where the stream ends, and beyond so many bytes.
class PickleInput {
 public:
  PickleInput(std::istream& in, std::uint64_t limit) : in_(in), left_(limit) {}

  std::string bytes(std::uint64_t count);
  unsigned char byte();
  std::uint64_t number(int bytes);  // without a sign, little end first
  std::string line();               // without its newline

 private:
  std::istream& in_;
  std::uint64_t left_;
};

}  // namespace lockstep
