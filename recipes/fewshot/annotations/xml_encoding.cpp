#include "recipes/fewshot/annotations/xml_encoding.h"

#include <iconv.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <memory>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "recipes/fewshot/annotations/file_names.h"

namespace lockstep::fewshot {
namespace {

// The declared encoding in small letters. Returns "" if none is declared, or if the text does not
// begin with ASCII in single bytes.
std::string declared_encoding(std::string_view text) {
  constexpr std::size_t longest = 200;
  if (!text.starts_with("<?xml")) return "";
  const std::string_view head = text.substr(0, std::min(longest, text.find("?>")));
  std::size_t at = head.find("encoding");
  if (at == head.npos) return "";
  at = head.find_first_of("\"'", at);
  if (at == head.npos) return "";
  const std::size_t end = head.find(head[at], at + 1);
  if (end == head.npos) return "";
  return in_small_letters(std::string(head.substr(at + 1, end - at - 1)));
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return c < 128; });
}

// Whether the name is valid in XML 1.0 (EncName) and its encoding is safe to decode. Encodings with
// shift states are refused. No program writes xml in them, and their decoders had security holes
// (CVE-2024-2961).
bool may_be_asked_for(const std::string& encoding) {
  const auto is_of_name = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-';
  };
  return std::isalpha(static_cast<unsigned char>(encoding[0])) != 0 &&
         std::all_of(encoding.begin(), encoding.end(), is_of_name) &&
         !encoding.starts_with("iso-2022") && !encoding.starts_with("iso2022") &&
         !encoding.starts_with("csiso2022") && !encoding.starts_with("utf-7");
}

// Converts to UTF-8. Returns nothing if iconv does not know the encoding. Throws Error for bytes
// that are invalid in it.
std::optional<std::string> convert(std::string_view text, const std::string& declared,
                                   const std::string& name) {
  const bool is_gb = declared == "gb2312" || declared == "gbk";
  const std::string encoding = is_gb ? "gb18030" : declared;
  struct Close {
    void operator()(void* handle) const { ::iconv_close(handle); }
  };
  if (!may_be_asked_for(encoding)) return std::nullopt;
  void* const opened = ::iconv_open("UTF-8", encoding.c_str());
  if (opened == reinterpret_cast<void*>(-1)) return std::nullopt;
  const std::unique_ptr<void, Close> handle(opened);
  std::string bytes(text), result;
  char* from = bytes.data();
  std::size_t left = bytes.size();
  std::array<char, 4096> buffer{};
  bool flushed = false;
  while (!flushed) {
    flushed = left == 0;
    char* to = buffer.data();
    std::size_t room = buffer.size();
    const std::size_t done =
        ::iconv(handle.get(), flushed ? nullptr : &from, flushed ? nullptr : &left, &to, &room);
    if (done == static_cast<std::size_t>(-1) && errno != E2BIG)
      throw Error(cat(name, ":", 1 + std::count(bytes.data(), from, '\n'),
                      ": the file declares the encoding ", printable(declared),
                      ", but its text is not of it"),
                  "save it in UTF-8");
    result.append(buffer.data(), to);
    if (flushed && done == static_cast<std::size_t>(-1)) flushed = false;
  }
  return result;
}

}  // namespace

std::optional<std::string> xml_as_utf8(std::string_view text, const std::string& name) {
  if (text.starts_with(byte_order_mark))  // the mark overrides the declaration
    return std::string(without_byte_order_mark(text));
  const std::string encoding = declared_encoding(text);
  if (encoding.empty() || encoding == "utf-8" || encoding == "utf8" || encoding == "iso-8859-1" ||
      encoding == "us-ascii")
    return encoding == "utf8" ? std::optional(std::string(text)) : std::nullopt;
  if (encoding.starts_with("utf-16")) return std::string(text);
  if (auto converted = convert(text, encoding, name)) return converted;
  if (is_ascii(text)) return std::string(text);
  throw Error(cat(name, ":1: the file declares the encoding ", printable(encoding),
                  ", which is not known here"),
              "save it in UTF-8, for example by iconv or an editor");
}

}  // namespace lockstep::fewshot
