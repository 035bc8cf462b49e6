// The few types and functions of NVIDIA's management library that Lockstep calls, as its reference
// manual documents them, so that no CUDA header is needed to build.
#pragma once

namespace lockstep::nvml {

using Return = int;
constexpr Return success = 0;
constexpr Return not_supported = 3;
constexpr Return no_permission = 4;
constexpr Return not_found = 6;
constexpr Return driver_not_loaded = 9;
constexpr Return function_not_found = 13;
constexpr Return library_mismatch = 18;

constexpr unsigned text_length = 96;  // enough for names, UUIDs and versions

using Device = struct OpaqueDevice*;

struct PciInfo {  // nvmlPciInfo_t, of nvmlDeviceGetPciInfo_v3
  char bus_id_legacy[16];
  unsigned domain;
  unsigned bus;
  unsigned device;
  unsigned pci_device_id;
  unsigned pci_subsystem_id;
  char bus_id[32];
};

struct Memory {  // nvmlMemory_t
  unsigned long long total, free, used;
};

struct MemoryV2 {  // nvmlMemory_v2_t; `used` leaves out what the driver reserves
  unsigned version;
  unsigned long long total, reserved, free, used;
};
constexpr unsigned memory_v2_version = sizeof(MemoryV2) | (2u << 24);

struct Utilization {  // nvmlUtilization_t, percent
  unsigned gpu;
  unsigned memory;
};

struct FieldValue {  // nvmlFieldValue_t
  unsigned field;
  unsigned scope;
  long long timestamp, latency_us;
  int type;  // value_is_unsigned, …
  Return result;
  union {  // nvmlValue_t
    double as_double;
    unsigned as_unsigned;
    unsigned long long as_unsigned_long_long;
  } value;
};
constexpr unsigned field_nvlink_speed = 90;                  // NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON
constexpr int value_is_unsigned = 1;                         // NVML_VALUE_TYPE_UNSIGNED_INT
constexpr unsigned most_nvlinks = 18;                        // NVML_NVLINK_MAX_LINKS
constexpr unsigned nvlink_to_gpu = 0, nvlink_to_switch = 2;  // nvmlIntNvLinkDeviceType_t
constexpr int exclusive_thread = 1, prohibited = 2, exclusive_process = 3;  // nvmlComputeMode_t
// nvmlGpuTopologyLevel_t, the nearest that two GPUs have in common.
constexpr int same_board = 0, one_switch = 10, several_switches = 20, host_bridge = 30,
              same_cpu = 40, same_machine = 50;

// One member a function, named after it; null where the library lacks it. Call through ask().
struct Api {
  Return (*nvmlInit_v2)() = nullptr;
  Return (*nvmlShutdown)() = nullptr;
  const char* (*nvmlErrorString)(Return) = nullptr;
  Return (*nvmlSystemGetDriverVersion)(char*, unsigned) = nullptr;
  Return (*nvmlSystemGetCudaDriverVersion_v2)(int*) = nullptr;
  Return (*nvmlDeviceGetCount_v2)(unsigned*) = nullptr;
  Return (*nvmlDeviceGetHandleByIndex_v2)(unsigned, Device*) = nullptr;
  Return (*nvmlDeviceGetHandleByUUID)(const char*, Device*) = nullptr;
  Return (*nvmlDeviceGetUUID)(Device, char*, unsigned) = nullptr;
  Return (*nvmlDeviceGetName)(Device, char*, unsigned) = nullptr;
  Return (*nvmlDeviceGetPciInfo_v3)(Device, PciInfo*) = nullptr;
  Return (*nvmlDeviceGetMemoryInfo)(Device, Memory*) = nullptr;
  Return (*nvmlDeviceGetCudaComputeCapability)(Device, int*, int*) = nullptr;
  Return (*nvmlDeviceGetUtilizationRates)(Device, Utilization*) = nullptr;
  Return (*nvmlDeviceGetMemoryInfo_v2)(Device, MemoryV2*) = nullptr;
  Return (*nvmlDeviceGetMigMode)(Device, unsigned*, unsigned*) = nullptr;
  Return (*nvmlDeviceGetMaxMigDeviceCount)(Device, unsigned*) = nullptr;
  Return (*nvmlDeviceGetMigDeviceHandleByIndex)(Device, unsigned, Device*) = nullptr;
  Return (*nvmlDeviceGetNvLinkState)(Device, unsigned, unsigned*) = nullptr;
  Return (*nvmlDeviceGetNvLinkRemoteDeviceType)(Device, unsigned, unsigned*) = nullptr;
  Return (*nvmlDeviceGetNvLinkRemotePciInfo_v2)(Device, unsigned, PciInfo*) = nullptr;
  Return (*nvmlDeviceGetFieldValues)(Device, int, FieldValue*) = nullptr;
  Return (*nvmlDeviceGetMaxPcieLinkGeneration)(Device, unsigned*) = nullptr;
  Return (*nvmlDeviceGetMaxPcieLinkWidth)(Device, unsigned*) = nullptr;
  Return (*nvmlDeviceGetNvLinkVersion)(Device, unsigned, unsigned*) = nullptr;
  Return (*nvmlDeviceGetMinorNumber)(Device, unsigned*) = nullptr;
  Return (*nvmlDeviceGetEnforcedPowerLimit)(Device, unsigned*) = nullptr;  // milliwatts
  Return (*nvmlDeviceGetComputeMode)(Device, int*) = nullptr;
  Return (*nvmlDeviceGetTopologyCommonAncestor)(Device, Device, int*) = nullptr;
};

// Calls what may be absent.
template <class... Parameters, class... Arguments>
Return ask(Return (*function)(Parameters...), Arguments... arguments) {
  return function ? function(arguments...) : function_not_found;
}

}  // namespace lockstep::nvml
