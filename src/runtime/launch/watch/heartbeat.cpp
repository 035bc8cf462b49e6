#include "runtime/launch/watch/heartbeat.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>

#include "core/base/error.h"
#include "core/base/process/descriptors.h"
#include "core/base/text/text.h"
#include "core/base/whole_number.h"

namespace lockstep {
namespace {

// One cache line per rank, which the rank writes and the launcher reads. Only `moves` is compared
// with earlier values.
struct alignas(64) Slot {
  std::atomic<std::uint64_t> moves;
  std::atomic<std::int64_t> step;
  std::atomic<std::uint64_t> number;
  std::atomic<std::int32_t> phase, waits_in;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && sizeof(Slot) == 64);

Slot own_memory;           // used if no launcher reads
Slot* own_slot = nullptr;  // set once, before any thread starts

Heartbeat read_slot(const Slot& slot) {
  return {.moves = slot.moves.load(std::memory_order_acquire),
          .phase = static_cast<Phase>(slot.phase.load()),
          .step = slot.step.load(),
          .waits_in = static_cast<Collective>(slot.waits_in.load()),
          .number = slot.number.load()};
}

int number_from_environment(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? -1 : whole_number<int>(text, 0, 1 << 20).value_or(-1);
}

}  // namespace

const char* phase_name(Phase phase) {
  switch (phase) {
    case Phase::none:
      return "an unknown place";
    case Phase::starting:
      return "starting";
    case Phase::data:
      return "data";
    case Phase::forward:
      return "forward";
    case Phase::backward:
      return "backward";
    case Phase::reduction:
      return "reduction";
    case Phase::update:
      return "update";
    case Phase::device:
      return "waiting for the device";
    case Phase::evaluation:
      return "evaluation";
    case Phase::prediction:
      return "prediction";
    case Phase::checkpoint:
      return "checkpoint";
    case Phase::ending:
      return "ending";
  }
  return "";
}

const char* collective_name(Collective collective) {
  switch (collective) {
    case Collective::none:
      return "nothing";
    case Collective::all_reduce:
      return "all-reduce";
    case Collective::reduce_scatter:
      return "reduce-scatter";
    case Collective::gather:
      return "gather";
    case Collective::exchange:
      return "exchange";
    case Collective::broadcast:
      return "broadcast";
    case Collective::store:
      return "the store";
  }
  return "";
}

namespace {

std::string of_step(const Heartbeat& heartbeat) {
  return heartbeat.step > 0 ? cat(" of step ", heartbeat.step) : "";
}

}  // namespace

std::string name_wait(const Heartbeat& heartbeat) {
  if (heartbeat.waits_in == Collective::store)
    return cat("the wait for a word of another rank", of_step(heartbeat));
  return cat(collective_name(heartbeat.waits_in), " ", heartbeat.number, of_step(heartbeat));
}

std::string describe(const Heartbeat& heartbeat) {
  if (heartbeat.waits_in == Collective::store)
    return cat("waits for a word of another rank", of_step(heartbeat));
  if (heartbeat.waits_in != Collective::none) return cat("waits in ", name_wait(heartbeat));
  return cat("in ", phase_name(heartbeat.phase), of_step(heartbeat));
}

Heartbeats::Heartbeats(std::size_t ranks)
    : ranks_(ranks), file_(above_stderr(UniqueFd(memfd_create("lockstep", MFD_CLOEXEC)))) {
  const auto bytes = static_cast<off_t>(ranks * sizeof(Slot));
  if (!file_ || ftruncate(file_.get(), bytes) != 0)
    throw Error(cat("cannot make memory for ", ranks, " ranks: ", errno_text(errno)));
  memory_ = mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE, MAP_SHARED,
                 file_.get(), 0);
  if (memory_ == MAP_FAILED) throw Error(cat("cannot share memory: ", errno_text(errno)));
}

Heartbeats::~Heartbeats() { munmap(memory_, ranks_ * sizeof(Slot)); }

std::vector<Heartbeat> Heartbeats::read() const {
  const Slot* const slots = static_cast<const Slot*>(memory_);
  std::vector<Heartbeat> heartbeats;
  for (std::size_t rank = 0; rank < ranks_; ++rank) heartbeats.push_back(read_slot(slots[rank]));
  return heartbeats;
}

namespace {

// The slot of RANK in the memory of LOCKSTEP_HEARTBEAT_FD. Null if there is no such memory.
Slot* shared_slot() {
  const int fd = number_from_environment("LOCKSTEP_HEARTBEAT_FD");
  const int rank = number_from_environment("RANK");
  if (fd < 0 || rank < 0) return nullptr;
  struct stat file {};
  const auto end = static_cast<off_t>((static_cast<std::size_t>(rank) + 1) * sizeof(Slot));
  if (fstat(fd, &file) != 0 || file.st_size < end) return nullptr;
  void* const memory = mmap(nullptr, static_cast<std::size_t>(file.st_size), PROT_READ | PROT_WRITE,
                            MAP_SHARED, fd, 0);
  close(fd);
  unsetenv("LOCKSTEP_HEARTBEAT_FD");  // child processes of this rank are not ranks
  return memory == MAP_FAILED ? nullptr : static_cast<Slot*>(memory) + rank;
}

}  // namespace

void open_heartbeat() {
  Slot* const shared = shared_slot();
  own_slot = shared != nullptr ? shared : &own_memory;
  enter_phase(Phase::starting, 0);
}

Heartbeat own_heartbeat() { return own_slot == nullptr ? Heartbeat{} : read_slot(*own_slot); }

void beat() {
  if (own_slot != nullptr) own_slot->moves.fetch_add(1, std::memory_order_release);
}

void enter_phase(Phase phase) {
  if (own_slot == nullptr) return;
  own_slot->phase.store(static_cast<std::int32_t>(phase), std::memory_order_relaxed);
  beat();
}

void enter_phase(Phase phase, std::int64_t step) {
  if (own_slot == nullptr) return;
  own_slot->step.store(step, std::memory_order_relaxed);
  enter_phase(phase);
}

void count_collective(std::uint64_t number) {
  if (own_slot == nullptr) return;
  own_slot->number.store(number, std::memory_order_relaxed);
  beat();
}

WaitingInCollective::WaitingInCollective(Collective collective, std::uint64_t number)
    : WaitingInCollective(collective) {
  count_collective(number);
}

WaitingInCollective::WaitingInCollective(Collective collective) {
  if (own_slot == nullptr) return;
  own_slot->waits_in.store(static_cast<std::int32_t>(collective), std::memory_order_relaxed);
  beat();
}

WaitingInCollective::~WaitingInCollective() {
  if (own_slot == nullptr) return;
  own_slot->waits_in.store(static_cast<std::int32_t>(Collective::none), std::memory_order_relaxed);
  beat();
}

}  // namespace lockstep
