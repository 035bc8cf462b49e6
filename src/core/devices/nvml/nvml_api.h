// Declares the types and functions of NVIDIA's management library (NVML) that Lockstep uses, as
// NVML's reference manual documents them. So the build needs no CUDA header.
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

constexpr unsigned text_length = 96;  // bytes that are enough for names, UUIDs and versions

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

struct MemoryV2 {  // nvmlMemory_v2_t; `used` is without the memory that the driver reserves
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
// nvmlGpuTopologyLevel_t: the nearest part that two GPUs share.
constexpr int same_board = 0, one_switch = 10, several_switches = 20, host_bridge = 30,
              same_cpu = 40, same_machine = 50;

constexpr Return insufficient_size = 7;

constexpr unsigned temperature_of_chip = 0;                // NVML_TEMPERATURE_GPU
constexpr unsigned clock_of_sms = 1, clock_of_memory = 2;  // nvmlClockType_t
constexpr unsigned pcie_sent = 0, pcie_received = 1;       // nvmlPcieUtilCounter_t
constexpr unsigned field_nvlink_sent_kib = 138, field_nvlink_received_kib = 139;
constexpr unsigned all_nvlinks = ~0u;  // FieldValue::scope for these two fields
constexpr int value_is_unsigned_long_long = 3;
constexpr unsigned long long memory_not_available = ~0ull;

// nvmlProcessInfo_v1_t; the rows of all versions begin with it, see nvml_processes.h
struct ProcessInfo {
  unsigned pid;
  unsigned long long used_memory;
};
constexpr unsigned process_info_v1_bytes = 16, process_info_v2_bytes = 24;
// A function that lists processes. The size of the rows that it writes depends on the driver
// (nvml_processes.h).
using ListProcesses = Return (*)(Device, unsigned*, void*);

struct ProcessUtilization {  // nvmlProcessUtilizationSample_t, percent
  unsigned pid;
  unsigned long long timestamp_us;
  unsigned sm, memory, encoder, decoder;
};

// GPU performance monitoring (GPM), on Hopper and later.
using GpmSample = struct OpaqueGpmSample*;
struct GpmMetric {  // nvmlGpmMetric_t
  unsigned metric;
  Return result;
  double value;
  const char *short_name, *long_name, *unit;
};
constexpr unsigned most_gpm_metrics = 512;  // at least as many as in any version of NVML's header
struct GpmMetrics {                         // nvmlGpmMetricsGet_t
  unsigned version = 1;
  unsigned count = 0;
  GpmSample before = nullptr, after = nullptr;
  GpmMetric metrics[most_gpm_metrics] = {};
};
struct GpmSupport {  // nvmlGpmSupport_t
  unsigned version = 1;
  unsigned supported = 0;
};
// nvmlGpmMetricId_t. Values of the PCIe and NVLink metrics are in MiB/s, and all others in percent.
constexpr unsigned gpm_sm = 2, gpm_tensor = 5, gpm_dram = 10, gpm_pcie_sent = 20,
                   gpm_pcie_received = 21, gpm_nvlink_received = 60, gpm_nvlink_sent = 61;

// nvmlMemoryErrorType_t, nvmlEccCounterType_t
constexpr unsigned ecc_uncorrected = 1, ecc_since_load = 0;

// One member for each function of the library, with its name. A member is null if the library lacks
// the function. So call the functions through ask().
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
  Return (*nvmlDeviceGetPowerManagementDefaultLimit)(Device, unsigned*) = nullptr;
  Return (*nvmlDeviceGetComputeMode)(Device, int*) = nullptr;
  Return (*nvmlDeviceGetTotalEccErrors)(Device, unsigned, unsigned, unsigned long long*) = nullptr;
  // Returns four values. The first two are the numbers of memory rows that were replaced after
  // correctable and after uncorrectable errors. The third is whether rows will be replaced at the
  // next reset. The fourth is whether a row could not be replaced.
  Return (*nvmlDeviceGetRemappedRows)(Device, unsigned*, unsigned*, unsigned*, unsigned*) = nullptr;
  Return (*nvmlDeviceGetTopologyCommonAncestor)(Device, Device, int*) = nullptr;
  Return (*nvmlDeviceGetPowerUsage)(Device, unsigned*) = nullptr;  // milliwatts
  Return (*nvmlDeviceGetTotalEnergyConsumption)(Device, unsigned long long*) = nullptr;  // mJ
  Return (*nvmlDeviceGetTemperature)(Device, unsigned, unsigned*) = nullptr;
  Return (*nvmlDeviceGetClockInfo)(Device, unsigned, unsigned*) = nullptr;  // MHz
  Return (*nvmlDeviceGetMaxClockInfo)(Device, unsigned, unsigned*) = nullptr;
  Return (*nvmlDeviceGetCurrentClocksEventReasons)(Device, unsigned long long*) = nullptr;
  Return (*nvmlDeviceGetCurrentClocksThrottleReasons)(Device, unsigned long long*) = nullptr;
  Return (*nvmlDeviceGetPcieThroughput)(Device, unsigned,
                                        unsigned*) = nullptr;  // KiB/s; takes 20 ms
  Return (*nvmlDeviceGetCurrPcieLinkGeneration)(Device, unsigned*) = nullptr;
  Return (*nvmlDeviceGetCurrPcieLinkWidth)(Device, unsigned*) = nullptr;
  ListProcesses nvmlDeviceGetComputeRunningProcesses_v3 = nullptr;
  ListProcesses nvmlDeviceGetComputeRunningProcesses_v2 = nullptr;
  ListProcesses nvmlDeviceGetComputeRunningProcesses = nullptr;
  ListProcesses nvmlDeviceGetMPSComputeRunningProcesses_v3 = nullptr;
  ListProcesses nvmlDeviceGetGraphicsRunningProcesses_v3 = nullptr;
  ListProcesses nvmlDeviceGetGraphicsRunningProcesses_v2 = nullptr;
  ListProcesses nvmlDeviceGetGraphicsRunningProcesses = nullptr;
  Return (*nvmlDeviceGetProcessUtilization)(Device, ProcessUtilization*, unsigned*,
                                            unsigned long long) = nullptr;
  Return (*nvmlGpmQueryDeviceSupport)(Device, GpmSupport*) = nullptr;
  Return (*nvmlGpmSampleAlloc)(GpmSample*) = nullptr;
  Return (*nvmlGpmSampleFree)(GpmSample) = nullptr;
  Return (*nvmlGpmSampleGet)(Device, GpmSample) = nullptr;
  Return (*nvmlGpmMetricsGet)(GpmMetrics*) = nullptr;
};

// Calls the function with these arguments. Returns function_not_found if the function is null.
template <class... Parameters, class... Arguments>
Return ask(Return (*function)(Parameters...), Arguments... arguments) {
  return function ? function(arguments...) : function_not_found;
}

}  // namespace lockstep::nvml
