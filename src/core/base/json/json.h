// Parses JSON from outside without exceptions. Rejects JSON that nests so deep that using it would
// end the program.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace lockstep {

// The most levels of nested lists and objects. Copying and printing a value uses stack for each
// level.
inline constexpr int deepest_json = 200;

// Whether brackets outside strings nest deeper than deepest_json, even if the text is not JSON.
bool too_deep(std::string_view json);

// Returns the value, or a discarded value if the text is not JSON or nests too deep.
nlohmann::json parse_json(std::string_view text);

// The replacement for NaN, Infinity and -Infinity, which JSON lacks: the texts "NaN", … or null.
enum class PythonNumber { text, null };
// Like parse_json, for JSON that Python's json module wrote, which may have these numbers.
nlohmann::json parse_python_json(std::string_view text, PythonNumber as = PythonNumber::text);

// Where and why parsing a text as JSON failed, such as "half of a surrogate pair". The text must be
// one that parse_json rejects.
struct JsonFault {
  std::size_t offset = 0;  // in bytes
  std::string reason;
};
JsonFault json_fault(std::string_view text);

// As parse_json, for CBOR. Returns a discarded value if the bytes are not CBOR or nest too deep.
nlohmann::json parse_cbor(std::string_view bytes);

}  // namespace lockstep
