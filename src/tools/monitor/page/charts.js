// The charts, drawn with dygraphs: one line per GPU, a legend with values, a cursor for mouse and keys.
/* global Dygraph */
import { GIB, byId, clock, element, gib, percent, rate, state } from './state.js';

const DASHES = [null, [7, 3], [2, 2], [9, 3, 2, 3]];  // another for each four GPUs: not by colour alone
let setting = false;  // dygraphs tells of each change of the cursor, ours too

// of(gpu): the name of the metric that is drawn of a GPU.
const measuredEver = (metric, gpu) => state.values[metric]?.[gpu]?.some((value) => value !== null);
const CHARTS = [
  {
    title: 'Activity', range: [0, 102], axis: (v) => `${v} %`, format: percent,
    choices: [
      ['SM, else busy', (gpu) => (measuredEver('sm_active', gpu) ? 'sm_active' : 'gpu_busy')],
      ['SM', () => 'sm_active'], ['tensor', () => 'tensor_active'],
      ['DRAM', () => 'dram_active'], ['busy', () => 'gpu_busy'],
    ],
    suffix: (metric) => (metric === 'gpu_busy' ? ' busy' : metric === 'sm_active' ? ' SM' : ''),
  },
  {
    title: 'Memory', axis: (v) => `${(v / GIB).toFixed(v && v < 10 * GIB ? 1 : 0)} GiB`, format: gib, binary: true,
    most: { memory_used: 'memory_total' },
    choices: [['used', () => 'memory_used']],
  },
  {
    title: 'Power', axis: (v) => `${v} W`, format: (v) => `${v.toFixed(0)} W`,
    choices: [['power', () => 'power'], ['temperature', () => 'temperature']],
    most: { power: 'power_limit' }, units: { temperature: [(v) => `${v} °C`, (v) => `${v.toFixed(0)} °C`] },
  },
  {
    title: 'Traffic', axis: (v) => (v > 0 && v < 10 ? '' : rate(v)), format: rate,
    choices: [['PCIe out', () => 'pcie_sent'], ['PCIe in', () => 'pcie_received'],
      ['NVLink out', () => 'nvlink_sent'], ['NVLink in', () => 'nvlink_received']],
  },
];

const formatters = (chart, metric) => chart.units?.[metric] || [chart.axis, chart.format];
const metricOf = (chart, gpu) => chart.choices[chart.choice][1](gpu);
const dashOf = (gpu) => DASHES[Math.floor(gpu / 4) % DASHES.length];

function swatch(gpu) {
  const ns = 'http://www.w3.org/2000/svg';
  const svg = document.createElementNS(ns, 'svg');
  svg.setAttribute('class', 'swatch');
  svg.setAttribute('viewBox', '0 0 24 8');
  svg.setAttribute('aria-hidden', 'true');
  const line = document.createElementNS(ns, 'line');
  for (const [name, value] of Object.entries({ x1: 0, x2: 24, y1: 4, y2: 4, class: `s${gpu % 8}` }))
    line.setAttribute(name, value);
  if (dashOf(gpu)) line.setAttribute('stroke-dasharray', dashOf(gpu).join(' '));
  svg.append(line);
  return svg;
}

// Positions in state.time of what is shown.
function firstShown() {
  const from = state.time[state.time.length - 1] - state.minutes * 60e3;
  let first = 0;
  for (let last = state.time.length; first < last;) {
    const middle = (first + last) >> 1;
    if (state.time[middle] < from) first = middle + 1; else last = middle;
  }
  return first;
}

// Rows for dygraphs; a row of gaps where samples are missing, so that no line is drawn across.
function rowsOf(chart, first) {
  const gap = Math.max(3 * state.interval, 3) * 1000;
  const columns = state.gpus.map((_, gpu) => {
    const metric = metricOf(chart, gpu);
    return [state.values[metric]?.[gpu], state.metrics[metric]?.scale || 1];
  });
  const rows = [];
  for (let i = first; i < state.time.length; ++i) {
    if (i > first && state.time[i] - state.time[i - 1] > gap)
      rows.push([new Date(state.time[i - 1] + 1), ...columns.map(() => null)]);
    const row = [new Date(state.time[i])];
    for (const [values, scale] of columns) {
      const value = values ? values[i] : null;
      row.push(value === null ? null : value * scale);
    }
    rows.push(row);
  }
  return rows;
}

function makeCard(chart) {
  chart.choice = 0;
  const card = element('div', undefined, 'card');
  const head = element('div');
  const title = element('h2', chart.title);
  head.append(title);
  if (chart.choices.length > 1) {
    const select = element('select');
    select.setAttribute('aria-label', `What the chart ${chart.title} shows`);
    chart.choices.forEach(([name], i) => select.append(new Option(name, i)));
    select.addEventListener('change', () => {
      chart.choice = Number(select.value);
      drawCharts();
    });
    head.append(select);
  }
  chart.when = element('time');
  head.append(chart.when);
  chart.box = element('div', undefined, 'chart');
  chart.box.tabIndex = 0;
  chart.box.setAttribute('role', 'group');
  chart.box.setAttribute('aria-label', `Chart ${chart.title}: arrow keys move through its values`);
  chart.box.addEventListener('keydown', (event) => chartKey(event, chart));
  chart.box.addEventListener('blur', () => setCursor(null));
  chart.legend = element('ul', undefined, 'legend');
  card.append(head, chart.box, chart.legend);
  byId('grid').append(card);
}

function optionsOf(chart) {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();
  const labels = ['time', ...state.gpus.map((gpu, i) => `GPU ${gpu.gpu}, line ${i}`)];
  const series = {};
  labels.slice(1).forEach((label, i) => {
    series[label] = { color: colour(`--line-${i % 8}`), strokePattern: dashOf(i) };
  });
  const [axis] = formatters(chart, metricOf(chart, 0));
  return {
    labels, series, strokeWidth: state.minutes > 5 ? 1.1 : 1.7, highlightCircleSize: 3.5, interactionModel: {},
    includeZero: true, drawGapEdgePoints: true, pointSize: 1.5, labelsKMG2: chart.binary === true,
    valueRange: chart.range || [0, most(chart.most?.[metricOf(chart, 0)])],
    visibility: state.gpus.map((_, i) => !state.hidden.has(i)), gridLineColor: colour('--grid'),
    axisLineColor: colour('--rule'), rightGap: 8,
    axes: {
      x: { axisLabelFormatter: tick, pixelsPerLabel: 84,
        axisLabelWidth: 72 },
      y: { axisLabelFormatter: (value) => axis(value), axisLabelWidth: 66, pixelsPerLabel: 34 },
    },
    highlightCallback: (event, x, points, row) => setCursor(row, chart),
    unhighlightCallback: () => setCursor(null),
  };
}

const tick = (date) => date.toLocaleTimeString([], state.minutes > 5
  ? { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } : { hourCycle: 'h23' });
// The top of an axis: the most that a GPU can have, where all tell; else null, the data decide.
const most = (metric) => {
  const limits = (metric && state.sample ? state.sample.gpus : []).map((gpu) => gpu.metrics[metric].value);
  return limits.length && limits.every(Number.isFinite) ? Math.max(...limits) * 1.04 : null;
};

function drawLegend(chart) {
  const last = chart.rows.length - 1;
  const at = state.cursor === null ? last : Math.min(state.cursor, last);
  const row = chart.rows[at];
  chart.when.textContent = row ? `${state.cursor === null ? 'now, ' : ''}${clock(row[0])}` : '';
  chart.legend.replaceChildren(...state.gpus.flatMap((gpu, i) => {
    if (state.hidden.has(i)) return [];
    const metric = metricOf(chart, i);
    const item = element('li');
    item.append(swatch(i), element('span', legendText(chart, metric, i, row)));
    if (!row || row[i + 1] === null) item.className = 'missing';
    return [item];
  }));
}

function legendText(chart, metric, gpu, row) {
  const [, format] = formatters(chart, metric);
  const value = row ? row[gpu + 1] : null;
  const never = state.sample?.gpus[gpu]?.metrics[metric]?.state === 'unsupported';
  const text = value !== null ? format(value) : never ? 'n/a' : '-';
  return `${state.gpus[gpu].gpu}: ${text}${chart.suffix ? chart.suffix(metric) : ''}`;
}

export function drawCharts() {
  if (!state.gpus.length) return;
  const first = state.time.length ? firstShown() : 0;
  const end = state.time[state.time.length - 1];
  const marked = state.cursor === null ? null : CHARTS[0].rows[state.cursor]?.[0].getTime();
  for (const chart of CHARTS) {
    chart.rows = state.time.length ? rowsOf(chart, first) : [];
    chart.box.dataset.samples = state.time.length;
    if (chart.rows.length) {
      const all = { ...optionsOf(chart), file: chart.rows, dateWindow: [end - state.minutes * 60e3, end] };
      if (chart.graph) chart.graph.updateOptions(all);
      else chart.graph = new Dygraph(chart.box, chart.rows, all);
    }
  }
  if (marked !== null) {  // the rows have moved on under it
    const at = CHARTS[0].rows.findIndex((row) => row[0].getTime() === marked);
    state.cursor = at < 0 ? null : at;
  }
  setting = true;
  if (marked !== null) select();
  setting = false;
  CHARTS.forEach(drawLegend);
}

function select(from) {
  for (const chart of CHARTS) {
    if (!chart.graph) continue;
    if (state.cursor === null) chart.graph.clearSelection();
    else if (chart !== from) chart.graph.setSelection(Math.min(state.cursor, chart.rows.length - 1));
  }
}

// A row of all charts, or null: the newest. `from` has marked it already.
function setCursor(row, from) {
  if (setting || state.cursor === row) return;
  setting = true;
  state.cursor = row;
  select(from);
  CHARTS.forEach(drawLegend);
  setting = false;
}

function chartKey(event, chart) {
  const last = chart.rows ? chart.rows.length - 1 : -1;
  const at = state.cursor ?? last;
  const step = event.shiftKey ? 10 : 1;
  const targets = {
    ArrowLeft: Math.max(0, at - step), ArrowRight: Math.min(last, at + step), Home: 0, End: last, Escape: null,
  };
  if (last < 0 || !(event.key in targets)) return;
  event.preventDefault();
  setCursor(targets[event.key]);
  const items = [...chart.legend.children].map((item) => item.textContent);
  byId('spoken').textContent = `${chart.title}, ${chart.when.textContent}: ${items.join('; ')}`;
}

function makeLines() {
  byId('lines').replaceChildren(...state.gpus.map((gpu, i) => {
    const button = element('button');
    button.type = 'button';
    button.append(swatch(i), element('span', `GPU ${gpu.gpu}`));
    button.title = gpu.name;
    button.setAttribute('aria-pressed', String(!state.hidden.has(i)));
    button.addEventListener('click', () => {
      if (state.hidden.has(i)) state.hidden.delete(i); else state.hidden.add(i);
      button.setAttribute('aria-pressed', String(!state.hidden.has(i)));
      drawCharts();
    });
    return button;
  }));
}

export function makeCharts() {
  // Their legend sets styles in a way that the page's policy forbids; ours shows values.
  Dygraph.PLUGINS = Dygraph.PLUGINS.filter((plugin) => plugin !== Dygraph.Plugins.Legend);
  CHARTS.forEach(makeCard);
  new ResizeObserver(() => CHARTS.forEach((chart) => chart.graph?.resize())).observe(byId('grid'));
}

// For other GPUs than before.
export function renewCharts() {
  for (const chart of CHARTS) {
    chart.graph?.destroy();
    chart.graph = null;
  }
  makeLines();
}
