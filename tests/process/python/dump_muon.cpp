// Prints what muon makes of the synthetic matrices, as bits: {"machine", "cases"}
// (tests/fakes/muon_cases.h).
#include "fakes/muon_cases.h"

#include <cstdio>

int main() {
  using namespace lockstep::testing;
  nlohmann::json cases = nlohmann::json::array();
  for (const MuonCase& one : muon_cases) cases.push_back(bits_of_muon(one));
  const nlohmann::json all{{"machine", machine_of_muon()}, {"cases", cases}};
  std::puts(all.dump().c_str());
  return 0;
}
