// The page of `lockstep monitor --serve`: asks for new samples, says what is wrong, and takes keys and clicks.
import { drawCharts, makeCharts, renewCharts } from './charts.js';
import { age, byId, clock, printable, state } from './state.js';
import { drawTables } from './tables.js';

const HOUR_MS = 3600e3;
const RETRY_MS = 2000;
const LEAST_POLL_MS = 500;
const OLD_S = 10;  // a sample older than this, or than three intervals, is no news
const HANGS_S = 5;
let timer = null;
let asking = false;  // two answers at once would both be added

// Data -----------------------------------------------------------------------------------------------
function forget(data) {  // another monitor counts its samples anew
  Object.assign(state, { start: data.start, newest: 0, time: [], values: {}, cursor: null });
  state.gpus = data.gpus;
  renewCharts();
}

function add(data) {
  state.interval = data.interval_s;
  state.metrics = data.metrics;
  state.newest = Math.max(state.newest, data.newest);
  const before = state.time.length;
  const added = data.time.length;
  for (const time of data.time) state.time.push(time * 1000);
  for (const [metric, columns] of Object.entries(data.values)) {
    const kept = state.values[metric] ??= state.gpus.map(() => new Array(before).fill(null));
    columns.forEach((column, gpu) => {
      for (let i = 0; i < added; ++i) kept[gpu].push(column ? column[i] : null);
    });
  }
  const old = state.time.findIndex((time) => time > state.time[state.time.length - 1] - HOUR_MS - 60e3);
  if (old > 60) {
    state.time.splice(0, old);
    for (const columns of Object.values(state.values)) for (const column of columns) column.splice(0, old);
  }
}

async function get(path) {
  const answer = await fetch(path, { cache: 'no-store', signal: AbortSignal.timeout(10000) });
  if (!answer.ok && answer.status !== 503) throw new Error(`${path}: ${answer.status}`);
  return answer.status === 503 ? null : answer.json();
}

async function poll() {
  if (asking) return;
  asking = true;
  let wait = RETRY_MS;
  try {
    let data = await get(`history.json?after=${state.newest}`);
    if (data.start !== state.start) {
      if (state.newest) data = await get('history.json?after=0');
      forget(data);
    }
    state.sample = (await get('sample.json')) || state.sample;
    add(data);
    state.lost = null;
    if (!state.paused) {
      drawTables();
      drawCharts();
    }
    tellStatus(data);
    wait = Math.max(LEAST_POLL_MS, state.interval * 1000);
  } catch (error) {
    state.lost ??= Date.now();
    tellStatus(null, error);
  }
  asking = false;
  clearTimeout(timer);
  if (!state.paused && !document.hidden) timer = setTimeout(poll, wait);
}

// What is wrong, if something is: the values on the page are then old and drawn pale.
function troubleOf(data) {
  if (!data)
    return `Lockstep does not answer since ${clock(state.lost)}: it ended, or the connection is lost. ` +
      'What is shown is old.';
  if (data.hanging_s >= HANGS_S)
    return `The NVIDIA driver has not answered for ${age(data.hanging_s)}. What is shown is of before.`;
  if (data.age_s !== null && data.age_s > Math.max(OLD_S, 3 * data.interval_s))
    return `The newest sample is ${age(data.age_s)} old.`;
  return '';
}

function tellStatus(data, error) {
  const trouble = troubleOf(data);
  const lost = (state.sample?.gpus || []).filter((gpu) => gpu.fault).map((gpu) => `GPU ${gpu.gpu}: ${gpu.fault}.`);
  const alarm = byId('alarm');
  const text = printable([trouble, ...lost].filter(Boolean).join(' '));
  if (alarm.textContent !== text) alarm.textContent = text;
  alarm.hidden = !text;
  document.body.classList.toggle('old', Boolean(trouble));
  if (error) console.warn(error);
  const kept = state.time.length ? age((state.time[state.time.length - 1] - state.time[0]) / 1000) : '';
  byId('status').textContent = state.paused
    ? 'paused: the page stands still, Lockstep goes on' : !data ? 'no connection'
    : data.age_s === null ? 'waiting for the first sample'
      : `live, a sample every ${data.interval_s} s · charts: ${state.time.length} samples over ${kept}`;
}

// Controls -------------------------------------------------------------------------------------------
function setMinutes(minutes) {
  state.minutes = minutes;
  for (const button of document.querySelectorAll('#ranges button'))
    button.setAttribute('aria-pressed', String(Number(button.dataset.minutes) === minutes));
  state.cursor = null;
  drawCharts();
}

function setPaused(paused) {
  state.paused = paused;
  byId('pause').setAttribute('aria-pressed', String(paused));
  byId('pause').textContent = paused ? 'Go on' : 'Pause';
  clearTimeout(timer);
  if (paused) tellStatus({ hanging_s: 0, age_s: 0 }); else poll();
}

const darkWanted = matchMedia('(prefers-color-scheme: dark)');
function setTheme(theme) {
  state.theme = theme;
  try { localStorage.setItem('theme', theme); } catch { /* not allowed: it lasts for this page */ }
  document.documentElement.dataset.theme = theme === 'auto' ? (darkWanted.matches ? 'dark' : 'light') : theme;
  byId('theme').textContent = `Theme: ${theme}`;
  drawCharts();
}
const nextTheme = () => setTheme({ auto: 'light', light: 'dark', dark: 'auto' }[state.theme]);

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.target.matches('select, input')) return;
  const minutes = { 1: 1, 2: 5, 3: 15, 4: 60 }[event.key];
  if (minutes) setMinutes(minutes);
  else if (event.key === 'p') setPaused(!state.paused);
  else if (event.key === 't') nextTheme();
  else return;
  event.preventDefault();
});
for (const button of document.querySelectorAll('#ranges button'))
  button.addEventListener('click', () => setMinutes(Number(button.dataset.minutes)));
byId('pause').addEventListener('click', () => setPaused(!state.paused));
byId('theme').addEventListener('click', nextTheme);
darkWanted.addEventListener('change', () => { if (state.theme === 'auto') setTheme('auto'); });
// A page in the background asks for nothing; it catches up when it is looked at.
document.addEventListener('visibilitychange', () => {
  clearTimeout(timer);
  if (!document.hidden && !state.paused) poll();
});

makeCharts();
// "#minutes=60&theme=dark": a page as it is wanted, for a bookmark.
const wanted = new URLSearchParams(location.hash.slice(1));
let stored = null;
try { stored = localStorage.getItem('theme'); } catch { /* not allowed */ }
const theme = wanted.get('theme') || stored;
setTheme(['light', 'dark'].includes(theme) ? theme : 'auto');
const minutes = Number(wanted.get('minutes'));
setMinutes([1, 5, 15, 60].includes(minutes) ? minutes : 5);
poll();
