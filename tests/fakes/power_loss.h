// A disk in memory that tells what a power loss leaves of files, from a trace of what was done.
#pragma once

#include "fakes/file_trace.h"

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace lockstep::testing {

// What is lost. A process that is killed loses nothing that it had written.
enum class Loss {
  nothing,
  unsynced,       // bytes and names that no fsync of their file or folder followed
  unsynced_data,  // the bytes only: file systems may write names first
  random          // of each file and each folder, the later changes from some one on
};

class Disk {
 public:
  // root: the folder that all paths of the trace lie below; it is there, empty and durable.
  explicit Disk(std::filesystem::path root)
      : root_path_(std::move(root)), root_(std::make_shared<Node>(Node{.is_folder = true})) {}

  void apply(const FileRecord& record) {
    if (record.path.ends_with(" (deleted)")) return;
    switch (record.call) {
      case FileCall::create:
        return enter(record.path, std::make_shared<Node>());
      case FileCall::make_folder:
        return enter(record.path, std::make_shared<Node>(Node{.is_folder = true}));
      case FileCall::write: {
        std::string now = file(record.path).now;
        if (now.size() < record.offset + record.data.size())
          now.resize(record.offset + record.data.size());
        now.replace(record.offset, record.data.size(), record.data);
        return file(record.path).change(std::move(now));
      }
      case FileCall::truncate: {
        std::string now = file(record.path).now;
        now.resize(record.offset);
        return file(record.path).change(std::move(now));
      }
      case FileCall::sync: {
        const std::shared_ptr<Node> node = find(record.path);
        if (node) node->sync();
        return;
      }
      case FileCall::sync_all:
        return sync_below(*root_);
      case FileCall::rename: {
        const std::shared_ptr<Node> node = find(record.path);
        if (parent(record.path) == parent(record.other)) {
          Folder now = parent(record.path)->entries;
          now.erase(name(record.path));
          now[name(record.other)] = node;
          return parent(record.path)->change(std::move(now));
        }
        enter(record.other, node);
        return leave(record.path);
      }
      case FileCall::exchange: {
        Folder now = parent(record.path)->entries;
        std::swap(now[name(record.path)], now[name(record.other)]);
        return parent(record.path)->change(std::move(now));
      }
      case FileCall::remove:
        return leave(record.path);
    }
  }

  // What is there once the machine is up again, into a new folder.
  void write_to(const std::filesystem::path& folder, Loss loss, unsigned seed = 0) const {
    std::mt19937 random(seed);
    write_node(*root_, folder, loss, random);
  }
  // Likewise, where of some files and folders, by their path below the root, all was written by
  // chance before the power went, and of others what was synced alone.
  using Keeps = std::function<bool(const std::filesystem::path&)>;
  void write_to(const std::filesystem::path& folder, const Keeps& keeps) const {
    write_node(*root_, folder, {}, keeps);
  }

 private:
  struct Node;
  using Folder = std::map<std::string, std::shared_ptr<Node>>;
  struct Node {
    bool is_folder = false;
    std::string now, synced;
    std::vector<std::string> since;  // the last sync: after each change
    Folder entries, synced_entries;
    std::vector<Folder> entries_since;

    void change(std::string to) { since.push_back(now = std::move(to)); }
    void change(Folder to) { entries_since.push_back(entries = std::move(to)); }
    void sync() {
      synced = now;
      since.clear();
      synced_entries = entries;
      entries_since.clear();
    }
  };

  template <class State>
  static const State& state(const State& now, const State& synced, const std::vector<State>& since,
                            bool keeps, Loss loss, std::mt19937& random) {
    if (keeps) return now;
    if (loss != Loss::random) return synced;
    const std::size_t kept = random() % (since.size() + 1);
    return kept == 0 ? synced : since[kept - 1];
  }

  static void write_node(const Node& node, const std::filesystem::path& path, Loss loss,
                         std::mt19937& random) {
    if (!node.is_folder) {
      std::ofstream(path, std::ios::binary)
          << state(node.now, node.synced, node.since, loss == Loss::nothing, loss, random);
      return;
    }
    std::filesystem::create_directories(path);
    const bool keeps = loss == Loss::nothing || loss == Loss::unsynced_data;
    for (const auto& [name, entry] :
         state(node.entries, node.synced_entries, node.entries_since, keeps, loss, random))
      write_node(*entry, path / name, loss, random);
  }

  static void write_node(const Node& node, const std::filesystem::path& folder,
                         const std::filesystem::path& below, const Keeps& keeps) {
    if (!node.is_folder) {
      std::ofstream(folder / below, std::ios::binary) << (keeps(below) ? node.now : node.synced);
      return;
    }
    std::filesystem::create_directories(folder / below);
    Folder entries = node.entries;
    std::erase_if(entries, [&](const auto& entry) { return !keeps(below / entry.first); });
    for (const auto& [name, entry] : node.synced_entries)
      if (!keeps(below / name)) entries[name] = entry;
    for (const auto& [name, entry] : entries) write_node(*entry, folder, below / name, keeps);
  }

  static void sync_below(Node& node) {
    node.sync();
    for (const auto& [name, entry] : node.entries) sync_below(*entry);
  }
  static std::string name(const std::string& path) {
    return std::filesystem::path(path).filename().string();
  }
  std::shared_ptr<Node> find(const std::filesystem::path& path) const {
    std::shared_ptr<Node> node = root_;
    for (const auto& part : path.lexically_relative(root_path_)) {
      if (part == ".") continue;
      const auto next = node->entries.find(part.string());
      if (next == node->entries.end()) return nullptr;
      node = next->second;
    }
    return node;
  }
  std::shared_ptr<Node> parent(const std::filesystem::path& path) const {
    return find(path.parent_path());
  }
  Node& file(const std::string& path) {
    if (!find(path)) enter(path, std::make_shared<Node>());
    return *find(path);
  }
  void enter(const std::string& path, const std::shared_ptr<Node>& node) {
    Folder now = parent(path)->entries;
    now[name(path)] = node;
    parent(path)->change(std::move(now));
  }
  void leave(const std::string& path) {
    Folder now = parent(path)->entries;
    now.erase(name(path));
    parent(path)->change(std::move(now));
  }

  std::filesystem::path root_path_;
  std::shared_ptr<Node> root_;
};

}  // namespace lockstep::testing
