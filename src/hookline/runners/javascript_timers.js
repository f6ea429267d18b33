// setTimeout and setInterval. Python waits as long as `wait` says and then lets `run` call one function.
(log, shown) => {
"use strict";
const {now} = Date, {apply} = Reflect, text = String, WrongType = TypeError, TooMany = RangeError;
const timers = Object.create(null);
let started = 0, running = 0;

const start = (repeats, call, wait, input) => {
  if (typeof call !== "function") throw new WrongType("a timer takes a function");
  if (running >= MAX_TIMERS) throw new TooMany("a script may have MAX_TIMERS timers at once");
  wait = +wait > 0 ? +wait : 0;
  timers[++started] = {__proto__: null, call, input, at: now() + wait, every: repeats ? wait || 1 : -1};
  running += 1;
  return started;
};

const stop = id => {
  if (timers[id] === undefined) return;
  delete timers[id];
  running -= 1;
};

const next = () => {
  let first;
  for (const id in timers) if (first === undefined || timers[id].at < timers[first].at) first = id;
  return first;
};

const run = () => {  // one at a time, so that the jobs that it starts run before the next
  const id = next();
  if (id === undefined || timers[id].at > now()) return;
  const {call, input, every} = timers[id];
  if (every < 0) stop(id);
  else timers[id].at = now() + every;
  try { apply(call, undefined, input); } catch (error) { log("uncaught: " + shown(error)); }
};

const wait = () => {  // in milliseconds, as JSON
  const id = next();
  if (id === undefined) return "null";
  const left = timers[id].at - now();
  return left > 0 ? text(left < MAX_TIMER_WAIT ? left : MAX_TIMER_WAIT) : "0";
};

return {
  timers: {run, wait},
  names: {
    setTimeout: (call, wait, ...input) => start(false, call, wait, input),
    setInterval: (call, wait, ...input) => start(true, call, wait, input),
    clearTimeout: stop,
    clearInterval: stop,
  },
};
}
