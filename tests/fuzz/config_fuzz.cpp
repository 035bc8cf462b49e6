// A config file (TOML) over two tables with an option of every type, and presets. The resulting
// values must be the same after they are printed as TOML, or as the record of a run, and read
// again.
#include "fuzz.h"

#include <nlohmann/json.hpp>

#include "unit/core/config/config_fixtures.h"

namespace lockstep {
namespace {

nlohmann::json record_of(const Both& options) {
  nlohmann::json values = options.engine.table.to_json();
  values.update(options.toy.table.to_json());
  return values;
}

}  // namespace
}  // namespace lockstep

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  static const fuzz::MemoryFile file;
  file.write(fuzz::text_of(data, size));
  Both options;
  if (!fuzz::accepts([&] { options.apply({}, {file.path()}); })) return 0;

  const nlohmann::json record = record_of(options);
  Both restored;
  apply_json(restored.tables, record);
  LOCKSTEP_CHECK(record_of(restored) == record);
  file.write(to_toml(options.tables));
  Both printed;
  printed.apply({}, {file.path()});
  LOCKSTEP_CHECK(record_of(printed) == record);
  return 0;
}
