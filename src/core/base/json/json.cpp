// Reads JSON and CBOR from outside the program.
#include "core/base/json/json.h"

#include <algorithm>

#include "core/base/text/text.h"

namespace lockstep {
namespace {

// Builds the value, and stops if it nests too deeply. The CBOR reader recurses for each level.
class BoundedValue : public nlohmann::detail::json_sax_dom_parser<nlohmann::json> {
  using Base = nlohmann::detail::json_sax_dom_parser<nlohmann::json>;

 public:
  explicit BoundedValue(nlohmann::json& value) : Base(value, /*allow_exceptions=*/false) {}
  bool start_object(std::size_t count) {
    return ++depth_ <= deepest_json && Base::start_object(count);
  }
  bool end_object() { return --depth_, Base::end_object(); }
  bool start_array(std::size_t count) {
    return ++depth_ <= deepest_json && Base::start_array(count);
  }
  bool end_array() { return --depth_, Base::end_array(); }

 private:
  int depth_ = 0;
};

// The head of a CBOR item (RFC 8949, 3): its major type, its number, and the length of the head.
struct CborHead {
  int major = 0;
  std::uint64_t number = 0;
  bool is_open = false;   // unknown length
  std::size_t bytes = 0;  // 0 = invalid or incomplete
};

CborHead cbor_head(std::string_view bytes) {
  constexpr int first_long = 24, unknown_length = 31;
  const int first = static_cast<unsigned char>(bytes[0]), low = first & 31;
  CborHead head{.major = first >> 5, .number = static_cast<std::uint64_t>(low), .bytes = 1};
  head.is_open = low == unknown_length;
  if (low < first_long || head.is_open) return head;
  const std::size_t more = std::size_t{1} << (low - first_long);
  if (more > 8 || bytes.size() <= more) return {};
  head.number = 0;
  for (const char byte : bytes.substr(1, more))
    head.number = head.number << 8 | static_cast<unsigned char>(byte);
  head.bytes += more;
  return head;
}

// Whether a text of unknown length contains another such text. The standard allows only pieces of
// known length. nlohmann's reader also accepts others, and recurses for each.
bool has_nested_texts(std::string_view bytes) {
  constexpr int raw = 2, text = 3, other = 7;
  bool is_inside = false;
  while (!bytes.empty()) {
    const CborHead head = cbor_head(bytes);
    if (head.bytes == 0) return false;  // the reader ends here too
    bytes.remove_prefix(head.bytes);
    if (head.major == other && head.is_open) is_inside = false;
    if (head.major != raw && head.major != text) continue;
    if (head.is_open && is_inside) return true;
    if (head.is_open)
      is_inside = true;
    else
      bytes.remove_prefix(std::min<std::uint64_t>(head.number, bytes.size()));
  }
  return false;
}

// Extracts REASON from nlohmann's message: "[…] parse error at …: syntax error while parsing value
// - REASON; last read: '…'". The last text read is skipped, because it may be long.
std::string reason_of(std::string_view said) {
  constexpr std::string_view syntax = "syntax error ";
  if (said.find("surrogate") != said.npos) return "half of a surrogate pair, which is no character";
  if (const std::size_t at = said.find(syntax); at != said.npos) {
    const std::size_t dash = said.find(" - ", at);
    said.remove_prefix(dash == said.npos ? at : dash + 3);
  }
  return std::string(said.substr(0, said.find("; last read:")));
}

// Describes a number that exceeds every double. said: nlohmann's message, "[…] number overflow
// parsing '1e999'".
JsonFault too_large(std::string_view text, std::string_view said) {
  said.remove_prefix(std::min(said.size(), said.find('\'') + 1));
  const std::string_view number = said.substr(0, said.find('\''));
  const std::size_t at = text.find(number);
  return {at == text.npos ? 0 : at, "a number that is too large"};
}

}  // namespace

bool too_deep(std::string_view json) {
  int depth = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_text && c == '\\')
      ++i;
    else if (c == '"')
      in_text = !in_text;
    else if (!in_text && (c == '[' || c == '{') && ++depth > deepest_json)
      return true;
    else if (!in_text && (c == ']' || c == '}'))
      --depth;
  }
  return false;
}

nlohmann::json parse_json(std::string_view text) {
  if (too_deep(text)) return nlohmann::json(nlohmann::json::value_t::discarded);
  return nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
}

nlohmann::json parse_cbor(std::string_view bytes) {
  const nlohmann::json discarded(nlohmann::json::value_t::discarded);
  if (has_nested_texts(bytes)) return discarded;
  nlohmann::json value;
  BoundedValue sax(value);
  try {
    if (!nlohmann::json::sax_parse(bytes, &sax, nlohmann::json::input_format_t::cbor))
      return discarded;
  } catch (const nlohmann::json::exception&) {  // such as a count that is too large for a list
    return discarded;
  }
  return value;
}

JsonFault json_fault(std::string_view text) {
  if (too_deep(text)) return {0, cat("lists and objects nest deeper than ", deepest_json)};
  try {
    if (!nlohmann::json::parse(text).is_discarded()) return {};
  } catch (const nlohmann::json::parse_error& error) {
    return {error.byte > 0 ? error.byte - 1 : 0, reason_of(error.what())};
  } catch (const nlohmann::json::exception& error) {
    return too_large(text, error.what());
  }
  return {};
}

nlohmann::json parse_python_json(std::string_view text, PythonNumber as) {
  nlohmann::json value = parse_json(text);
  if (!value.is_discarded()) return value;
  std::string mended;
  bool in_text = false;
  for (std::size_t i = 0; i < text.size();) {
    std::string_view word = text.substr(i, 1);
    if (!in_text)
      for (const std::string_view known : {"NaN", "Infinity", "-Infinity"})
        if (text.substr(i).starts_with(known)) word = known;
    if (in_text && word == "\\") word = text.substr(i, 2);
    if (word == "\"") in_text = !in_text;
    i += word.size();
    if (in_text || word.size() <= 2)
      mended += word;
    else if (as == PythonNumber::null)
      mended += "null";
    else
      mended.append("\"").append(word).append("\"");
  }
  return mended == text ? value : parse_json(mended);
}

}  // namespace lockstep
