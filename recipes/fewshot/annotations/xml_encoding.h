// Converts xml to UTF-8 if expat, the xml parser in use, does not know its encoding.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lockstep::fewshot {

// Returns the text converted to UTF-8, or nothing if expat can read the text as it is. Expat knows
// UTF-8, UTF-16, ISO-8859-1 and US-ASCII. If the text declares any other encoding, iconv converts
// it. As in browsers, gb2312 and gbk are read as GB18030, which includes both. A text that begins
// with UTF-8's byte order mark is read as UTF-8, whatever it declares. A text of single bytes that
// declares UTF-16, as .NET writes it, is read as UTF-8 too. If iconv does not know the encoding, a
// text of only ASCII characters is returned unchanged.
//
// Throws Error, which names file and encoding, if iconv does not know the encoding and the text has
// other characters than ASCII. Also throws Error if the text is invalid in its encoding. name: the
// file's name. Source: XML 1.0, 4.3.3 and appendix F.
std::optional<std::string> xml_as_utf8(std::string_view text, const std::string& name);

}  // namespace lockstep::fewshot
