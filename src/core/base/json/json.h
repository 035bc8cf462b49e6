// Parses JSON that users or other programs wrote, without exceptions. Rejects JSON that is nested
// so deeply that using it would overflow the stack.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace lockstep {

// The largest depth of nested lists and objects that is accepted. Copying and printing a value uses
// stack for each level.
inline constexpr int deepest_json = 200;

// Whether brackets outside strings are nested deeper than deepest_json. The text need not be valid
// JSON.
bool too_deep(std::string_view json);

// Returns the value. If the text is not JSON or is nested too deeply, returns a discarded value,
// for which is_discarded() is true.
nlohmann::json parse_json(std::string_view text);

// The replacement for NaN, Infinity and -Infinity, which are not valid JSON: the texts "NaN",
// "Infinity" and "-Infinity", or null.
enum class PythonNumber { text, null };
// Like parse_json, for JSON from Python's json module, which may contain NaN and infinities.
nlohmann::json parse_python_json(std::string_view text, PythonNumber as = PythonNumber::text);

// Where a syntax error is in a JSON text, and its reason, such as "half of a surrogate pair".
struct JsonFault {
  std::size_t offset = 0;  // bytes from the start of the text
  std::string reason;
};
// Finds the first error in a text that parse_json has rejected.
JsonFault json_fault(std::string_view text);

// Like parse_json, for CBOR.
nlohmann::json parse_cbor(std::string_view bytes);

}  // namespace lockstep
