// Rendezvous and collectives on c10d::Backend: Gloo here, NCCL in the CUDA library.
#include "training/distributed/process_group.h"

#include "backends/exception_text.h"
#include "backends/layout.h"
#include "backends/out_of_memory.h"
#include "core/base/check.h"
#include "core/base/clock.h"
#include "core/base/text/text.h"
#include "runtime/launch/watch/heartbeat.h"
#include "training/distributed/rendezvous.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>

#include <algorithm>
#include <chrono>
#include <map>
#include <thread>
#include <utility>

namespace lockstep {
namespace {

// Returns function(). If it fails, throws an error with the name of the collective. An error for
// lack of memory is passed on unchanged.
template <class Function>
auto collectively(Collective collective, std::uint64_t number, const Function& function) {
  try {
    return function();
  } catch (const std::exception& error) {
    if (is_out_of_memory(error)) throw;
    const Heartbeat heartbeat{.phase = Phase::none,
                              .step = own_heartbeat().step,
                              .waits_in = collective,
                              .number = number};
    throw CollectiveFailed(cat(name_wait(heartbeat), " failed: ", message_of(error)));
  }
}

// Other programs can write to a TCP store, so values from it are checked.
void check_word(bool good, const std::string& key) {
  if (!good)
    throw std::runtime_error(cat("the store holds what no rank left there (", key,
                                 "): another program has written to it"));
}

// c10d has no value for "no limit" that all its backends accept, so a very long limit stands for
// it.
std::chrono::milliseconds limit(double time_s) {
  if (time_s <= 0) return std::chrono::hours(10000);
  return std::chrono::milliseconds(static_cast<std::int64_t>(time_s * 1000));
}

class NothingPending : public Pending {
 public:
  void wait() override {}
};

class WorkPending : public Pending {
 public:
  WorkPending(Collective collective, std::uint64_t number, c10::intrusive_ptr<c10d::Work> work)
      : collective_(collective), number_(number), work_(std::move(work)) {}
  void wait() override {
    const WaitingInCollective waiting(collective_, number_);
    collectively(collective_, number_, [&] { work_->wait(); });
  }

 private:
  Collective collective_;
  std::uint64_t number_;
  c10::intrusive_ptr<c10d::Work> work_;
};

}  // namespace

struct ProcessGroup::Impl {
  World world;
  at::Device device;
  RankLimits limits;
  c10::intrusive_ptr<c10d::Store> store;
  c10::intrusive_ptr<c10d::Backend> group;
  c10::intrusive_ptr<c10d::Backend> host_group;  // the same ranks, with a backend for CPUs
  c10::intrusive_ptr<c10d::Backend> group_apart = {};
  std::function<c10::intrusive_ptr<c10d::Backend>()> connect_apart = {};
  std::unique_ptr<PeerWatch> peers = {};
  std::uint64_t collectives = 0;  // number of collectives that were started
  std::uint64_t votes = 0;
  std::map<std::string, std::uint64_t> uses = {};  // how often own_key() used each key of the store
  // the next number of each key, if there is no store
  std::map<std::string, std::int64_t> numbers = {};

  // Every use of a key gets its own suffix, because the value of an earlier use is still in the
  // store.
  std::string own_key(const std::string& key) { return cat(key, "/", uses[key]++); }

  // begin(group) starts a collective and returns its work. From then on the collective is in
  // progress.
  template <class Begin>
  std::unique_ptr<Pending> issue(Collective collective, const Begin& begin) {
    return issue(collective, *group, begin);
  }
  template <class Begin>
  std::unique_ptr<Pending> issue(Collective collective, c10d::Backend& of, const Begin& begin) {
    count_collective(++collectives);
    return std::make_unique<WorkPending>(
        collective, collectives, collectively(collective, collectives, [&] { return begin(of); }));
  }
};

ProcessGroup::ProcessGroup(const World& world, Backend& backend, const RankLimits& limits,
                           PeerWatch::End end)
    : impl_(std::make_unique<Impl>(Impl{world, backend.device(), limits, {}, {}, {}})) {
  if (world.size == 1) return;
  impl_->store = meet(world, limits.start_s);
  if (end) impl_->peers = watch_peers(world, *impl_->store, std::move(end));
  auto prefixed = c10::make_intrusive<c10d::PrefixStore>("lockstep", impl_->store);
  const auto connect = [world, limits, all = impl_->store](Backend& with, const auto& store) {
    const WaitingInCollective waiting(Collective::store);
    all->setTimeout(limit(limits.start_s));
    auto group = with.make_group(store, world, limit(limits.start_s));
    group->setTimeout(limit(limits.collective_s));
    all->setTimeout(limit(limits.collective_s));
    return group;
  };
  try {
    impl_->group = connect(backend, prefixed);
    impl_->host_group = impl_->group;
    if (!impl_->device.is_cpu()) {
      auto of_hosts = c10::make_intrusive<c10d::PrefixStore>("lockstep hosts", impl_->store);
      impl_->host_group = connect(cpu_backend(), of_hosts);
    }
    impl_->connect_apart = [connect, store = impl_->store, &backend] {
      auto apart = c10::make_intrusive<c10d::PrefixStore>("lockstep apart", store);
      return connect(backend, apart);
    };
  } catch (const std::exception& error) {
    const std::string how = cat("connecting the ranks failed: ", message_of(error));
    if (impl_->peers) impl_->peers->tell(how);
    if (is_out_of_memory(error)) throw;
    throw CollectiveFailed(how);
  }
}

ProcessGroup::~ProcessGroup() = default;

PeerWatch* ProcessGroup::peers() const { return impl_->peers.get(); }
int ProcessGroup::rank() const { return impl_->world.rank; }
int ProcessGroup::size() const { return impl_->world.size; }

std::unique_ptr<Pending> ProcessGroup::all_reduce(const at::Tensor& tensor) {
  if (!impl_->group) return std::make_unique<NothingPending>();
  std::vector<at::Tensor> tensors{tensor};
  return impl_->issue(Collective::all_reduce,
                      [&](auto& group) { return group.allreduce(tensors); });
}

std::unique_ptr<Pending> ProcessGroup::all_reduce_on_host(const at::Tensor& tensor) {
  LOCKSTEP_CHECK(tensor.is_cpu());
  if (!impl_->group) return std::make_unique<NothingPending>();
  std::vector<at::Tensor> tensors{tensor};
  return impl_->issue(Collective::all_reduce, *impl_->host_group,
                      [&](auto& group) { return group.allreduce(tensors); });
}

std::unique_ptr<Pending> ProcessGroup::all_reduce_apart(const at::Tensor& tensor) {
  if (!impl_->group) return std::make_unique<NothingPending>();
  if (!impl_->group_apart) impl_->group_apart = impl_->connect_apart();
  std::vector<at::Tensor> tensors{tensor};
  return impl_->issue(Collective::all_reduce, *impl_->group_apart,
                      [&](auto& group) { return group.allreduce(tensors); });
}

std::unique_ptr<Pending> ProcessGroup::reduce_scatter(const at::Tensor& tensor) {
  // Gloo's own reduce_scatter is an all-reduce of a copy.
  if (!impl_->group || impl_->device.is_cpu()) return all_reduce(tensor);
  at::Tensor all = tensor, own = tensor.chunk(size()).at(static_cast<std::size_t>(rank()));
  return impl_->issue(Collective::reduce_scatter,
                      [&](auto& group) { return group._reduce_scatter_base(own, all); });
}

std::unique_ptr<Pending> ProcessGroup::gather_shards(const at::Tensor& tensor) {
  LOCKSTEP_CHECK(tensor.numel() % size() == 0);
  return gather_shards(
      tensor, std::vector<std::int64_t>(static_cast<std::size_t>(size()), tensor.numel() / size()));
}

std::unique_ptr<Pending> ProcessGroup::gather_shards(const at::Tensor& tensor,
                                                     const std::vector<std::int64_t>& sizes) {
  if (!impl_->group) return std::make_unique<NothingPending>();
  std::vector<at::Tensor> shards = tensor.split_with_sizes(sizes);
  const bool equal = std::equal(sizes.begin() + 1, sizes.end(), sizes.begin());
  if (impl_->device.is_cpu() || !equal) {
    // Gloo's own gather copies everything, and the gathers of both libraries need equal shards.
    for (int root = 0; root < size(); ++root) {
      const at::Tensor& shard = shards[static_cast<std::size_t>(root)];
      if (shard.numel() > 0) broadcast(shard, root);
    }
    return std::make_unique<NothingPending>();
  }
  at::Tensor all = tensor, own = shards[static_cast<std::size_t>(rank())];
  return impl_->issue(Collective::gather,
                      [&](auto& group) { return group._allgather_base(all, own); });
}

std::unique_ptr<Pending> ProcessGroup::exchange(const at::Tensor& taken, const at::Tensor& given,
                                                const std::vector<std::int64_t>& take,
                                                const std::vector<std::int64_t>& give) {
  if (!impl_->group) {
    taken.copy_(given);
    return std::make_unique<NothingPending>();
  }
  at::Tensor to = taken, from = given;
  std::vector<std::int64_t> take_sizes = take, give_sizes = give;
  return impl_->issue(Collective::exchange, [&](auto& group) {
    return group.alltoall_base(to, from, take_sizes, give_sizes);
  });
}

void ProcessGroup::broadcast(const at::Tensor& tensor, int root) {
  if (!impl_->group) return;
  LOCKSTEP_CHECK(tensor.is_non_overlapping_and_dense());
  std::vector<at::Tensor> tensors{memory_order(tensor)};
  c10d::BroadcastOptions options;
  options.rootRank = root;
  impl_
      ->issue(Collective::broadcast, [&](auto& group) { return group.broadcast(tensors, options); })
      ->wait();
}

at::Tensor ProcessGroup::all_gather(const at::Tensor& tensor) {
  if (!impl_->group) return tensor.unsqueeze(0);
  std::vector<std::int64_t> sizes = tensor.sizes().vec();
  sizes.insert(sizes.begin(), size());
  // Gathers in place. The backend's own all-gather would make copies, and could run out of memory
  // in the middle of a collective.
  at::Tensor all = at::empty(sizes, tensor.options());
  all[rank()].copy_(tensor);
  gather_shards(all.view({-1}))->wait();
  return all;
}

void ProcessGroup::barrier() {
  if (!impl_->group) return;
  at::Tensor one = at::zeros({1}, at::TensorOptions().dtype(at::kFloat).device(impl_->device));
  all_reduce(one)->wait();
  one.item<float>();  // on GPUs this makes the host wait too
}

bool ProcessGroup::all_agree(bool own) {
  if (!impl_->store) return own;
  const std::string key = cat("vote/", ++impl_->votes);
  const WaitingInCollective waiting(Collective::store);
  return collectively(Collective::store, 0, [&] {
    c10d::Store& store = *impl_->store;
    if (!own) store.add(key + "/against", 1);
    const std::int64_t votes = store.add(key + "/votes", 1);
    check_word(votes >= 1 && votes <= size(), key);
    if (votes == size())  // the last rank to vote writes the result
      store.set(key, std::vector<std::uint8_t>{store.add(key + "/against", 0) == 0});
    const std::vector<std::uint8_t> answer = store.get(key);
    check_word(answer.size() == 1 && answer[0] <= 1, key);
    return answer[0] != 0;
  });
}

std::string ProcessGroup::share(const std::string& name, const std::string& text) {
  if (!impl_->store) return text;
  const std::string key = impl_->own_key(name);
  if (rank() == 0) {
    impl_->store->set(key, std::vector<std::uint8_t>(text.begin(), text.end()));
    return text;
  }
  const WaitingInCollective waiting(Collective::store);
  const auto bytes = collectively(Collective::store, 0, [&] { return impl_->store->get(key); });
  return {bytes.begin(), bytes.end()};
}

std::vector<std::string> ProcessGroup::collect(const std::string& name, const std::string& text) {
  if (!impl_->store) return {text};
  const std::string key = impl_->own_key(name);
  if (rank() != 0) {
    impl_->store->set(cat(key, "/", rank()), std::vector<std::uint8_t>(text.begin(), text.end()));
    return {};
  }
  std::vector<std::string> texts{text};
  const WaitingInCollective waiting(Collective::store);
  for (int other = 1; other < size(); ++other) {
    const auto bytes =
        collectively(Collective::store, 0, [&] { return impl_->store->get(cat(key, "/", other)); });
    texts.emplace_back(bytes.begin(), bytes.end());
  }
  return texts;
}

std::int64_t ProcessGroup::next_number(const std::string& key) {
  if (!impl_->store) return impl_->numbers[key]++;
  return collectively(Collective::store, 0, [&] {
    const std::int64_t number = impl_->store->add(key, 1) - 1;
    check_word(number >= 0, key);
    return number;
  });
}

void ProcessGroup::shutdown() {
  if (!impl_->group) return;
  barrier();
  impl_->peers.reset();  // other ranks may end from here on
  if (impl_->group_apart) impl_->group_apart->shutdown();
  impl_->group_apart.reset();
  impl_->connect_apart = nullptr;
  if (impl_->host_group != impl_->group) impl_->host_group->shutdown();
  impl_->host_group.reset();
  impl_->group->shutdown();
  impl_->group.reset();
  // Rank 0 serves the store, so it leaves last. If another rank never gets here, rank 0 leaves
  // after a time limit.
  const std::string key = "left";
  impl_->store->add(key, 1);
  const double end_s = system_clock().now_s() + impl_->limits.end_s;
  if (rank() == 0)
    while (impl_->store->add(key, 0) < size() && system_clock().now_s() < end_s)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  impl_->store.reset();
}

void ProcessGroup::abort() {
  if (impl_->host_group && impl_->host_group != impl_->group) impl_->host_group->abort();
  if (impl_->group_apart) impl_->group_apart->abort();
  if (impl_->group) impl_->group->abort();
}

}  // namespace lockstep
