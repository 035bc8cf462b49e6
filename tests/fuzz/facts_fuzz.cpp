// Files of facts of lockstep compare. A comparison of an accepted file with itself must find no
// difference. The comparison can be printed as text and as JSON.
#include "fuzz.h"

#include "tools/report/comparison/comparison.h"
#include "tools/report/facts/facts_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  static const fuzz::MemoryFile file;
  file.write(fuzz::text_of(data, size));
  Trial trial;
  if (!fuzz::accepts([&] { trial = read_facts_file(file.path()); })) return 0;
  fuzz::accepts([&] {
    const Comparison same =
        compare({.name = "a", .trials = {trial}}, {.name = "b", .trials = {trial}}, {});
    LOCKSTEP_CHECK(same.differences.empty());
    LOCKSTEP_CHECK(!comparison_text(same, 80).empty());
    LOCKSTEP_CHECK(!comparison_json(same)
                        .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)
                        .empty());
  });
  return 0;
}
