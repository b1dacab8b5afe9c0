// The JavaScript side of own.rs: one call per signal, numbers in, the decision out through an array of the engine's memory.

// The controls of the flows by number, and numbers that are free again.
const controls = [];
const free = [];
let memory = null;
let address = 0;
let decision = new Float64Array(0);
let caught = null;

/** Keeps where the engine reads decisions: window, ssthresh, pacing rate, quantum; 0 for a rate or quantum that is not set. */
export function prepare(engineMemory, decisionAddress) {
  memory = engineMemory;
  address = decisionAddress;
  decision = new Float64Array(memory.buffer, address, 4);
}

function numeric(name, value) {
  if (typeof value !== "number") throw new TypeError(`${name} is ${typeof value}, not a number`);
  return value;
}

function decide(control) {
  const { window, ssthresh, pacing_rate: rate, quantum } = control;
  if (!(numeric("window", window) >= 1 && window < Infinity)) {
    throw new RangeError(`window is ${window}; a window is a finite number of packets, at least 1`);
  }
  if (ssthresh !== undefined && Number.isNaN(numeric("ssthresh", ssthresh))) {
    throw new RangeError("ssthresh is NaN; give packets, or Infinity");
  }
  const hasRate = rate !== undefined && rate !== null;
  if (hasRate && !(numeric("pacing_rate", rate) > 0 && rate < Infinity)) {
    throw new RangeError("pacing_rate: give packets per second above 0, or null");
  }
  const hasQuantum = quantum !== undefined && quantum !== null;
  if (hasQuantum && !(Number.isSafeInteger(numeric("quantum", quantum)) && quantum >= 1)) {
    throw new RangeError("quantum: give a whole number of packets, at least 1, or null");
  }
  // A memory that has grown is another buffer.
  if (decision.length === 0) decision = new Float64Array(memory.buffer, address, 4);
  decision[0] = window;
  // Without an ssthresh the one before stays.
  if (ssthresh !== undefined) decision[1] = ssthresh;
  decision[2] = hasRate ? rate : 0;
  decision[3] = hasQuantum ? quantum : 0;
}

/** Calls a method and reads the decision; keeps what is thrown, because nothing may leap over the engine's frames. */
function told(control, name, argument, isOptional) {
  try {
    if (!isOptional || control[name] !== undefined) {
      if (typeof control[name] !== "function") throw new TypeError(`the control has no method ${name}`);
      control[name](argument);
    }
    decide(control);
    return true;
  } catch (error) {
    caught = error;
    return false;
  }
}

function kept(control) {
  decide(control);
  const index = free.pop() ?? controls.length;
  controls[index] = control;
  return index;
}

/** Makes a control of a class; throws what its constructor throws. */
export function make(Class, parameters, window, ssthresh, hystart, rules, seed) {
  return kept(new Class({ window, ssthresh, hystart, rules, seed }, parameters));
}

/** Makes a second control in the state of another. */
export function copy(index) {
  const control = controls[index];
  return kept(Object.assign(Object.create(Object.getPrototypeOf(control)), control));
}

/** Forgets a control. */
export function release(index) {
  controls[index] = undefined;
  free.push(index);
}

/** Returns what a control threw when a call returned false. */
export function thrown() {
  const error = caught;
  caught = null;
  return error;
}

/** Returns a property that is recorded; NaN where it is not a number. */
export function internal(index, name) {
  const value = controls[index][name];
  return typeof value === "number" ? value : NaN;
}

/** An acknowledgement; `rtt_s` is NaN without a sample, and the sample of the delivery rate counts with `has_rate`. */
export function ack(
  index, now_s, growth, credit, delivered, rtt_s, in_flight, round, window_limited, recovering, lost, marked, round_limited,
  has_rate, rate_delivered, interval_s, application_limited, prior_delivered, tx_in_flight, rate_lost,
) {
  let rate = null;
  let delivery_rate = null;
  if (has_rate) {
    rate = { delivered: rate_delivered, interval_s, application_limited, prior_delivered, tx_in_flight, lost: rate_lost };
    delivery_rate = rate_delivered / interval_s;
    if (!Number.isFinite(delivery_rate)) delivery_rate = null;
  }
  const report = {
    now_s, growth, credit, delivered, rtt_s: Number.isNaN(rtt_s) ? null : rtt_s, in_flight, round, window_limited, recovering,
    delivery_rate, rate, lost, marked, round_limited,
  };
  return told(controls[index], "onAck", report, false);
}

// Window and threshold before a loss event or first timeout, in a control that has a place for them: the base class returns to
// them when the loss turns out to be none.
function remember(control, window, ssthresh) {
  if (control.before !== undefined) control.before = [window, ssthresh];
}

/** A loss event; `window` and `ssthresh` are the decision before it. */
export function loss(index, now_s, ecn, window, ssthresh) {
  remember(controls[index], window, ssthresh);
  return told(controls[index], "onLoss", { now_s, ecn }, false);
}

/** A timeout; `window` and `ssthresh` are the decision before it. */
export function timeout(index, now_s, first, window, ssthresh) {
  if (first) remember(controls[index], window, ssthresh);
  return told(controls[index], "onTimeout", { now_s, first }, false);
}

/** A lost packet. */
export function lost(index, now_s, tx_in_flight, lost_since_sent, application_limited) {
  return told(controls[index], "onLost", { now_s, tx_in_flight, lost_since_sent, application_limited }, true);
}

/** The end of an idle time; how long it was is kept in a control that has a place for it, as for `before`. */
export function idle(index, now_s, timeouts) {
  const control = controls[index];
  if (control.idleTimeouts !== undefined) control.idleTimeouts = timeouts;
  return told(control, "onIdle", now_s, true);
}

/** A signal with one number, which a control need not have a method for. */
export function signal(index, name, value) {
  return told(controls[index], name, value, true);
}
