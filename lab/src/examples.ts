// Controls to begin with. Windows are in packets, times in seconds.

/** Additive increase, multiplicative decrease. */
const AIMD = `// Additive increase, multiplicative decrease: a packets more per round trip, b of the window cut per loss event.
class Control {
  static parameters = { a: 1, b: 0.5 };

  constructor(start, parameters) {
    Object.assign(this, { a: 1, b: 0.5 }, parameters);
    this.window = start.window;
    this.ssthresh = start.ssthresh;
  }

  onAck(ack) {
    if (this.window < this.ssthresh) this.window += ack.growth;
    else this.window += (this.a * ack.growth) / this.window;
  }

  onLoss(loss) {
    this.ssthresh = Math.max(2, (1 - this.b) * this.window);
    this.window = this.ssthresh;
  }

  onTimeout(timeout) {
    if (timeout.first) this.ssthresh = Math.max(2, (1 - this.b) * this.window);
    this.window = 1;
  }
}
`;

/** Reno (RFC 5681). */
const RENO = `// Reno (RFC 5681): slow start up to ssthresh, then one packet per round trip; half on a loss event.
class Control extends Base {
  onAck(ack) {
    // What slow start leaves of the growth, all of it after slow start.
    const growth = this.grow(ack);
    this.window += growth / this.window;
  }

  onLoss(loss) {
    this.window = this.ssthresh = Math.max(2, this.window / 2);
  }
}
`;

/** Illinois (Liu, Basar, Srikant, 2008), section 3, without its rules for the time after a loss. */
const ILLINOIS = `// TCP-Illinois (Liu, Basar, Srikant, 2008), section 3: alpha and beta follow the average queueing delay.
class Control {
  static parameters = { alpha_min: 0.1, alpha_max: 10, beta_min: 0.125, beta_max: 0.5 };
  static internals = ["alpha", "beta"];

  constructor(start, parameters) {
    Object.assign(this, Control.parameters, parameters);
    this.window = start.window;
    this.ssthresh = start.ssthresh;
    this.alpha = 1;
    this.beta = 0.5;
    this.shortest = Infinity;
    this.longest = 0;
    this.round = 0;
    this.sum = 0;
    this.count = 0;
  }

  onAck(ack) {
    if (ack.rtt_s !== null) {
      this.shortest = Math.min(this.shortest, ack.rtt_s);
      this.longest = Math.max(this.longest, ack.rtt_s);
      this.sum += ack.rtt_s;
      this.count += 1;
    }
    if (ack.round > this.round && this.count > 0) this.adapt(ack.round);
    if (this.window < this.ssthresh) this.window += ack.growth;
    else this.window += (this.alpha * ack.growth) / this.window;
  }

  adapt(round) {
    const delay = this.sum / this.count - this.shortest;
    const most = this.longest - this.shortest;
    const first = 0.01 * most;
    const { alpha_min, alpha_max, beta_min, beta_max } = this;
    const part = most > first ? Math.max(0, (delay - first) / (most - first)) : 0;
    // kappa1/(kappa2 + d) through alpha_max at d1 and alpha_min at dm.
    this.alpha = 1 / (1 / alpha_max + part * (1 / alpha_min - 1 / alpha_max));
    const low = 0.1 * most, high = 0.8 * most;
    const between = high > low ? Math.min(1, Math.max(0, (delay - low) / (high - low))) : 0;
    this.beta = beta_min + between * (beta_max - beta_min);
    this.round = round;
    this.sum = 0;
    this.count = 0;
  }

  onLoss(loss) {
    this.ssthresh = Math.max(2, (1 - this.beta) * this.window);
    this.window = this.ssthresh;
  }

  onTimeout(timeout) {
    if (timeout.first) this.ssthresh = Math.max(2, this.window / 2);
    this.window = 1;
  }
}
`;

/** Controls by name. */
export const EXAMPLES: Record<string, string> = { Reno: RENO, "AIMD(a, b)": AIMD, Illinois: ILLINOIS };
