// Encodings of xml that expat does not know.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lockstep::fewshot {

// The text in UTF-8, by iconv, if its declaration names an encoding that expat does not know (it
// knows UTF-8, UTF-16, ISO-8859-1 and US-ASCII). Nothing if the parser is to decide. As in
// browsers, gb2312 and gbk are read as GB18030, which holds both. A text that begins with UTF-8's
// byte order mark, or that names UTF-16 in single bytes (.NET writes such files), is UTF-8.
// Throws Error, which names file and encoding: iconv does not know it and the text has more than
// ASCII, or the text is not of it. Source: XML 1.0, 4.3.3 and appendix F.
std::optional<std::string> xml_as_utf8(std::string_view text, const std::string& name);

}  // namespace lockstep::fewshot
