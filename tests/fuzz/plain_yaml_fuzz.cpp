// Settings of other programs in YAML: MLflow's meta.yaml, Lightning's hparams.yaml. The result has
// at most three times the bytes of the input.
#include "fuzz.h"

#include "tools/report/trackers/plain_yaml.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  std::size_t bytes = 0;
  for (const auto& [key, value] : plain_yaml(fuzz::text_of(data, size))) {
    LOCKSTEP_CHECK(!key.empty());
    bytes += key.size() + value.size();
  }
  LOCKSTEP_CHECK(bytes <= 3 * size);  // bytes that are no UTF-8 may become characters
  return 0;
}
