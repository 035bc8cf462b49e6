// Comparisons as `lockstep report` reads them.
#include "fuzz.h"

#include "core/base/json/json.h"
#include "tools/report/reports/comparison_report.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  const nlohmann::json comparison = parse_json(fuzz::text_of(data, size));
  if (comparison.is_discarded()) return 0;
  const Page page = comparison_page(comparison);
  LOCKSTEP_CHECK(html_of(page).ends_with("</html>\n"));
  LOCKSTEP_CHECK(!markdown_of(page).empty());
  return 0;
}
