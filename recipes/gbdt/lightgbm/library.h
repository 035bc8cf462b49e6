// Loads LightGBM's shared library when it is needed. This file declares the functions of its C
// interface that Lockstep calls (LightGBM 4.7, include/LightGBM/c_api.h). So the build needs
// neither LightGBM's headers nor its library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace lockstep::gbdt {

// Functions of LightGBM's C interface. All functions except last_error return 0, or -1 after a
// failure, which last_error describes.
struct LightGbmApi {
  using Handle = void*;
  const char* (*last_error)();
  int (*register_log)(void (*line)(const char*));
  int (*dump_aliases)(std::int64_t bytes, std::int64_t* needed, char* json);
  int (*dataset_from_matrix)(const void* values, int type, std::int32_t rows, std::int32_t columns,
                             int row_major, const char* parameters, const Handle reference,
                             Handle* dataset);
  int (*dataset_set_field)(Handle dataset, const char* name, const void* values, int count,
                           int type);
  int (*dataset_set_names)(Handle dataset, const char** names, int count);
  int (*dataset_free)(Handle dataset);
  int (*booster_create)(const Handle dataset, const char* parameters, Handle* booster);
  int (*booster_load)(const char* model, int* iterations, Handle* booster);
  int (*booster_free)(Handle booster);
  int (*booster_add_valid)(Handle booster, const Handle dataset);
  int (*booster_update)(Handle booster, int* finished);
  int (*booster_trees)(Handle booster, int* iterations);
  int (*booster_eval_count)(Handle booster, int* count);
  int (*booster_eval_names)(Handle booster, int room, int* count, std::size_t bytes,
                            std::size_t* needed, char** names);
  int (*booster_eval)(Handle booster, int dataset, int* count, double* values);
  int (*booster_save)(Handle booster, int first, int iterations, int importance, std::int64_t bytes,
                      std::int64_t* needed, char* model);
  int (*booster_predict)(Handle booster, const void* values, int type, std::int32_t rows,
                         std::int32_t columns, int row_major, int kind, int first, int iterations,
                         const char* parameters, std::int64_t* count, double* result);
  int (*booster_importance)(Handle booster, int iterations, int kind, double* result);
  int (*booster_features)(Handle booster, int* count);
};

// A loaded library. It stays loaded until the program ends, because LightGBM cannot be unloaded
// safely.
class LightGbm {
 public:
  // Throws Error if the file does not exist, cannot be loaded, or is not LightGBM's library.
  explicit LightGbm(const std::filesystem::path& path);

  const LightGbmApi& api() const { return api_; }
  const std::filesystem::path& path() const { return path_; }
  // The version, such as "4.7.0". It is empty if the library's package has no file VERSION.txt.
  const std::string& version() const { return version_; }
  // Maps LightGBM's names of parameters, and their aliases, to LightGBM's own names.
  const std::map<std::string, std::string>& aliases() const { return aliases_; }
  // Returns the function with this name, from the library or from a library that it needs. Returns
  // null if there is no such function.
  void* symbol(const char* name) const;
  // Throws Error with LightGBM's own message if `result` is not 0. doing: the action of the call,
  // such as "making a model".
  void check(int result, const char* doing) const;

 private:
  void* handle_ = nullptr;
  LightGbmApi api_{};
  std::filesystem::path path_;
  std::string version_;
  std::map<std::string, std::string> aliases_;
};

// Returns the path of the library: `chosen` if that is not empty. Otherwise, it is the library that
// came with this program. For the device "cuda", it is the library that was built for CUDA. Throws
// Error if the library does not exist. The hint says how to get it.
std::filesystem::path find_lightgbm(const std::filesystem::path& chosen,
                                    const std::string& device = "cpu");

// During its lifetime, LightGBM's messages on this thread go to `sink` and never to stdout. `sink`
// gets one line at a time, without "[LightGBM]". A thread may have only one LightGbmLog at a time.
class LightGbmLog {
 public:
  LightGbmLog(const LightGbm& library, std::function<void(const std::string&)> sink);
  ~LightGbmLog();
  LightGbmLog(const LightGbmLog&) = delete;
  LightGbmLog& operator=(const LightGbmLog&) = delete;
};

}  // namespace lockstep::gbdt
