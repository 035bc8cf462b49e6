// The variables that a cluster sets: lists of hosts, lists of tasks, and NAME=VALUE lines that
// describe a world. Also the value of --devices, for this machine or for an assumed one.
#include "fuzz.h"

#include <map>

#include "core/devices/device_counts.h"
#include "core/devices/gpus/gpu_probe.h"
#include "core/devices/gpus/visible_gpus.h"
#include "fakes/fake_probe.h"
#include "runtime/launch/world/hostlist.h"
#include "runtime/launch/world/world.h"

namespace lockstep {
namespace {

void check_world(std::string_view text) {
  std::map<std::string, std::string, std::less<>> variables;
  while (!text.empty()) {
    std::string_view line = fuzz::take_part(text, '\n');
    const std::string name(fuzz::take_part(line, '='));
    variables[name] = line.substr(0, line.find('\0'));
  }
  std::optional<World> world;
  const auto look_up = [&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
  if (!fuzz::accepts([&] { world = world_from_environment(look_up); }) || !world) return;
  LOCKSTEP_CHECK(world->rank >= 0 && world->rank < world->size);
  LOCKSTEP_CHECK(world->local_rank >= 0 && world->local_rank < world->local_size);
  LOCKSTEP_CHECK(world->local_size <= world->size && !world->master_addr.empty());
  LOCKSTEP_CHECK(world->master_port >= 0 && world->master_port <= 65535);
  LOCKSTEP_CHECK(world->master_port > 0 || world->size == 1);
}

void check_devices(const std::string& text) {
  static FakeProbe probe = fake_probe(4);
  const HostInfo host{.cores = 8, .memory_bytes = std::uint64_t{64} << 30};
  std::vector<Device> devices;
  if (fuzz::accepts(
          [&] { devices = select_devices(text, probe, host, nullptr, 13000, "/nowhere"); }))
    LOCKSTEP_CHECK(!devices.empty() && devices.size() <= 1024);
  if (fuzz::accepts([&] { devices = imagine_devices(text, probe, host, nullptr, "/nowhere"); }))
    LOCKSTEP_CHECK(!devices.empty() && devices.size() <= 4096);
  fuzz::accepts([&] { visible_gpus(probe.present, text.c_str()); });
  fuzz::accepts([&] {
    int last = 0;
    for (const int count : device_counts(text, 8, "GPU")) {
      LOCKSTEP_CHECK(count > last && count <= 8);
      last = count;
    }
  });
}

}  // namespace
}  // namespace lockstep

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  const std::string_view text = fuzz::text_of(data, size);
  fuzz::accepts([&] {
    for (const std::string& host : expand_hostlist(text)) LOCKSTEP_CHECK(!host.empty());
  });
  fuzz::accepts([&] {
    for (const int tasks : expand_tasks_per_node(text)) LOCKSTEP_CHECK(tasks >= 0);
  });
  check_world(text);
  check_devices(std::string(text));
  return 0;
}
