// Logs of other programs as JSON: W&B's history, tables of pandas, Transformers'
// trainer_state.json. An accepted log can be compared with itself, and shown as text, as JSON and
// as a page.
#include "fuzz.h"

#include "tools/report/comparison/comparison.h"
#include "tools/report/logs/json_log.h"
#include "tools/report/pages/page.h"
#include "tools/report/reports/trial_report.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  static const fuzz::MemoryFile file;
  file.write(fuzz::text_of(data, size));
  Trial trial;
  if (!fuzz::accepts([&] { trial = read_json_log(file.path()); })) return 0;
  LOCKSTEP_CHECK(html_of(trials_page({trial}, CurveAxis::step)).find("<script") ==
                 std::string::npos);
  LOCKSTEP_CHECK(!trials_json({trial}).is_discarded());
  fuzz::accepts([&] {
    const Comparison same =
        compare({.name = "a", .trials = {trial}}, {.name = "b", .trials = {trial}}, {});
    LOCKSTEP_CHECK(same.differences.empty());
    LOCKSTEP_CHECK(!comparison_text(same, 80).empty());
  });
  return 0;
}
