#include "tools/cli/percent.h"

#include <optional>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "core/config/parse.h"

namespace lockstep::cli {

double share_of(const Parsed& parsed, const std::string& flag, double otherwise, double least) {
  if (!parsed.has(flag)) return otherwise;
  const std::string given = parsed.value(flag), text = trim(given);
  const bool is_percent = text.ends_with('%');
  const std::optional<double> number =
      detail::parse_real(trim(is_percent ? text.substr(0, text.size() - 1) : text));
  if (!number) throw Error(cat(flag, " must be a share such as 2%, but is \"", given, "\""));
  if (!is_percent && *number >= 1)
    throw Error(cat(flag, " must be a share such as 2% or 0.02, but is ", given),
                cat("if you mean per cent, write ", flag, " ", given, "%"));
  const double share = is_percent ? *number / 100 : *number;
  if (share < least || (least == 0 && share < 0))
    throw Error(cat(flag, " must be at least ", general(100 * least, 3), "%, but is ", given));
  return share;
}

}  // namespace lockstep::cli
