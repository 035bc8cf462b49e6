// The table of GPUs and that of processes.
import { GIB, age, byId, element, gib, percent, rate, shown, state, why } from './state.js';

function cell(text, readings, className) {
  const made = element('td', text, className);
  if (readings.length) made.title = readings.map(why).join('\n');
  if (readings.length && readings.every((one) => one.state !== 'measured')) made.classList.add('missing');
  return made;
}

function withBar(made, reading, share) {
  const bar = element('span', undefined, 'bar');
  bar.setAttribute('aria-hidden', 'true');
  const filled = element('i');
  filled.style.width = reading.state === 'measured' ? `${Math.max(0, Math.min(100, share))}%` : '0';
  bar.append(filled);
  made.append(bar);
  return made;
}

// SM says more than busy; which of them it is stands beside it.
const activityOf = (metrics) =>
  metrics.sm_active.state === 'unsupported' ? ['busy', metrics.gpu_busy] : ['SM', metrics.sm_active];

function gpuRow(gpu) {
  const m = gpu.metrics;
  const row = element('tr');
  const name = element('th', gpu.gpu);
  name.scope = 'row';
  row.append(name, element('td', gpu.name, 'text'));
  if (gpu.fault) {
    row.className = 'lost';
    const fault = element('td', `does not answer: ${gpu.fault}`, 'text');
    fault.colSpan = 10;
    row.append(fault);
    return row;
  }
  const [which, activity] = activityOf(m);
  const active = cell(`${shown(activity, percent)} `, [activity]);
  active.append(element('span', which, 'which'));
  row.append(withBar(active, activity, activity.value));
  row.append(cell(shown(m.tensor_active, percent), [m.tensor_active]));
  row.append(cell(shown(m.dram_active, percent), [m.dram_active]));
  const inGib = (value) => (value / GIB).toFixed(1);
  row.append(withBar(cell(`${shown(m.memory_used, inGib)} / ${shown(m.memory_total, inGib)}`,
    [m.memory_used, m.memory_total]), m.memory_used, 100 * m.memory_used.value / m.memory_total.value));
  const whole = (value) => value.toFixed(0);
  row.append(withBar(cell(`${shown(m.power, whole)} / ${shown(m.power_limit, whole)}`, [m.power, m.power_limit]),
    m.power, 100 * m.power.value / m.power_limit.value));
  row.append(cell(shown(m.temperature, (value) => `${whole(value)} °C`), [m.temperature]));
  row.append(cell(`${shown(m.sm_clock, whole)} / ${shown(m.sm_clock_most, whole)}`, [m.sm_clock, m.sm_clock_most]));
  row.append(cell(`${shown(m.pcie_sent, rate)} / ${shown(m.pcie_received, rate)}`, [m.pcie_sent, m.pcie_received]));
  row.append(cell(`${shown(m.nvlink_sent, rate)} / ${shown(m.nvlink_received, rate)}`,
    [m.nvlink_sent, m.nvlink_received]));
  const limits = m.clock_limits;
  const held = cell(limits.state === 'measured' ? limits.words || 'no' : shown(limits), [limits], 'text');
  if (limits.words) held.classList.add('held');
  row.append(held);
  return row;
}

// Of a rank of one of Lockstep's own runs.
function runText(run) {
  const step = run.step === null ? '' : `${run.step}${run.total_steps === null ? '' : `/${run.total_steps}`}`;
  return [`run ${run.name}`, step, run.eta_s === null ? '' : `${age(run.eta_s)} left`].filter(Boolean).join(' ');
}

function processRow(gpu, process) {
  const row = element('tr');
  const known = (value, format) => (value === null ? '-' : format(value));
  row.append(element('td', gpu.gpu), element('td', process.pid), element('td', process.user ?? '?', 'text'),
    element('td', known(process.sm_percent, percent)), element('td', known(process.memory_bytes, gib)),
    element('td', process.age_s === null ? '?' : age(process.age_s)));
  const words = process.command ?? '(not a process of this PID namespace, or ended)';
  const command = element('td', process.run ? `${runText(process.run)}: ${words}` : words, 'text command');
  command.title = command.textContent;
  row.append(command);
  return row;
}

export function drawTables() {
  if (!state.sample) return;
  document.querySelector('#gpus tbody').replaceChildren(...state.sample.gpus.map(gpuRow));
  const rows = state.sample.gpus.flatMap((gpu) => (gpu.processes || []).map((one) => processRow(gpu, one)));
  document.querySelector('#processes tbody').replaceChildren(...rows);
  const unknown = state.sample.gpus.filter((gpu) => gpu.processes === null).map((gpu) => gpu.gpu);
  const note = byId('no-processes');
  note.hidden = rows.length > 0 && unknown.length === 0;
  note.textContent = unknown.length ? `GPU ${unknown.join(', ')} does not tell its processes.` : 'None.';
}
