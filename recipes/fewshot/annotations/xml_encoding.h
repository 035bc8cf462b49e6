// Encodings of xml that expat does not know.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lockstep::fewshot {

// Converts a text to UTF-8 by iconv, if its declaration names an encoding that expat does not know
// (expat knows UTF-8, UTF-16, ISO-8859-1 and US-ASCII). Nothing if expat can read the text itself.
// As in browsers, gb2312 and gbk are read as GB18030, which includes both. A text is UTF-8 if it
// begins with UTF-8's byte order mark, or if it names UTF-16 in single bytes (.NET writes such
// files). Throws Error, which names file and encoding, if iconv does not know the encoding and the
// text has more than ASCII, or if the text is invalid in it. Source: XML 1.0, 4.3.3 and appendix F.
std::optional<std::string> xml_as_utf8(std::string_view text, const std::string& name);

}  // namespace lockstep::fewshot
