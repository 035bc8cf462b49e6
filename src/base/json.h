// JSON from outside: parsed without exceptions, and never so deep that using it ends the program.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace lockstep {

// Levels of lists and objects in each other. Copying and printing a value takes stack for each.
inline constexpr int deepest_json = 200;

// Whether brackets outside of texts nest deeper than that, whatever else the text is.
bool too_deep(std::string_view json);

// The value, or a discarded one if the text is no JSON or too deep.
nlohmann::json parse_json(std::string_view text);

// What becomes of NaN, Infinity and -Infinity, which JSON does not have: the texts "NaN", … or
// null.
enum class PythonNumber { text, null };
// Likewise, of JSON as Python's json module writes it.
nlohmann::json parse_python_json(std::string_view text, PythonNumber as = PythonNumber::text);

// Where reading a text as JSON stopped, and why: "half of a surrogate pair". Of a text that
// parse_json refuses.
struct JsonFault {
  std::size_t offset = 0;  // in bytes
  std::string reason;
};
JsonFault json_fault(std::string_view text);

// The value of CBOR, likewise: a discarded one if the bytes are none or too deep.
nlohmann::json parse_cbor(std::string_view bytes);

}  // namespace lockstep
