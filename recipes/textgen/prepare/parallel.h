// Processes items with several threads and bounded memory, and keeps their order.
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <vector>

namespace lockstep::textgen {

inline std::size_t worker_count() {
  return std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, 32);
}

// next(Item&) provides the items until it returns false. workers[t](const Item&) turns an item into
// a result. sink(Result) receives the results in the order of the items. next and sink run on the
// calling thread. Each worker runs on one thread at a time. At most 4 items per worker are in
// memory at once. If an item fails, the sink first receives the results of all items before it.
// Then the exception of this item is thrown.
template <class Item, class Result, class Next, class Worker, class Sink>
void ordered_parallel(Next next, std::vector<Worker>& workers, Sink sink) {
  std::vector<Item> items(4 * workers.size());
  std::vector<Result> results(items.size());
  std::vector<std::exception_ptr> errors(items.size());
  while (true) {
    std::size_t count = 0;
    std::exception_ptr read_error;
    try {
      while (count < items.size() && next(items[count])) ++count;
    } catch (...) {
      read_error = std::current_exception();
    }
    std::atomic<std::size_t> taken = 0;
    const auto work = [&](std::size_t t) {
      for (std::size_t i = taken++; i < count; i = taken++) try {
          results[i] = workers[t](items[i]);
        } catch (...) {
          errors[i] = std::current_exception();
        }
    };
    {
      std::vector<std::jthread> threads;
      for (std::size_t t = 1; t < std::min(workers.size(), count); ++t)
        threads.emplace_back(work, t);
      work(0);
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (errors[i]) std::rethrow_exception(errors[i]);
      sink(std::move(results[i]));
    }
    if (read_error) std::rethrow_exception(read_error);
    if (count < items.size()) return;
  }
}

}  // namespace lockstep::textgen
