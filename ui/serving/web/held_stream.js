/* Reads the page's messages in parts. Gradio keeps one request open for as long as a job runs, but
   a browser opens at most six connections to a server, for all its pages together. Here several
   requests answer that one; each continues where the last one ended. If other pages use too many
   connections, the server sends short parts, and the page asks for the next one after a pause. The
   server's side is ui/serving/held_streams.py. */

import { MemoryStorage } from "./memory_storage.js";

const POLL_MS = 500; // between two short parts
const ROOM_MS = 300; // for which a connection is left to another request
const RETRY_MS = 500;
const HERE_MS = 10_000; // the server waits three times as long for a page that says nothing
const MOST_FAILURES = 3; // in a row
const KEY = "sequoia-browser";

/**
 * What a stream needs of the page. ask: fetches an address. rest: waits for some milliseconds.
 * browser: a key of this browser, "" if it stores none, null if the number of its connections does
 * not matter. show: called with whether the page polls.
 * @typedef {{ask: typeof fetch, rest: (ms: number) => Promise<void>, browser: string | null,
 *   show: (polls: boolean) => void}} Around
 */

/** One of Gradio's requests for messages. */
export class HeldStream {
  received = 0; // bytes
  failures = 0;
  polls = false;
  makesRoom = false;
  /** @type {AbortController | null} ends the part that is being read */
  part = null;

  /**
   * @param {URL} address of the messages
   * @param {number} number tells apart the streams of this page
   * @param {AbortSignal} signal ends the stream
   * @param {Around} around
   */
  constructor(address, number, signal, around) {
    this.address = new URL(address);
    this.address.searchParams.set("stream", String(number));
    if (around.browser !== null) this.address.searchParams.set("browser", around.browser);
    this.signal = signal;
    this.around = around;
    signal.addEventListener("abort", () => this.part?.abort());
  }

  /** Leave the connection to another request for a moment. */
  makeRoom() {
    this.makesRoom = true;
    this.part?.abort();
  }

  /**
   * The bytes of the stream, as they arrive. Throws if the server cannot be reached or has lost the
   * stream.
   * @returns {AsyncGenerator<Uint8Array>}
   */
  async *bytes() {
    try {
      while (!this.signal.aborted) {
        const answer = await this.next();
        if (answer?.status === 204) return;
        if (answer) yield* this.read(answer);
        await this.pause();
      }
    } finally {
      this.around.show(false);
    }
  }

  /** @returns {Promise<Response | null>} the next part; null if there was none */
  async next() {
    this.part = new AbortController();
    this.address.searchParams.set("start", String(this.received));
    const answer = await this.tried(this.around.ask(this.address, { signal: this.part.signal }));
    if (answer && !answer.ok) throw new Error(`the server answered with status ${answer.status}`);
    return answer;
  }

  async *read(answer) {
    this.polls = answer.headers.get("X-Polls") === "1";
    this.around.show(this.polls);
    const reader = answer.body.getReader();
    for (;;) {
      const found = await this.tried(reader.read());
      if (!found?.value) return;
      this.received += found.value.length;
      yield found.value;
    }
  }

  // What `promise` gives; null if the connection broke or the part was ended on purpose.
  async tried(promise) {
    try {
      const found = await promise;
      this.failures = 0;
      return found;
    } catch (problem) {
      if (this.part.signal.aborted) return null;
      this.failures++;
      if (this.failures > MOST_FAILURES) throw problem;
      return null;
    }
  }

  async pause() {
    if (this.signal.aborted) return;
    if (this.makesRoom) await this.around.rest(ROOM_MS);
    else if (this.failures) await this.around.rest(RETRY_MS);
    else if (this.polls) await this.around.rest(POLL_MS);
    this.makesRoom = false;
  }
}

/** The streams of this page, one after the other. */
export class PageStreams {
  count = 0;
  /** @type {HeldStream | null} */
  open = null;
  /** @type {URL | null} address of the messages, with the key of this page */
  address = null;

  /** @param {Around} around */
  constructor(around) {
    this.around = around;
  }

  /**
   * The answer to Gradio's request for messages.
   * @param {URL} address
   * @param {AbortSignal} signal
   * @returns {Response}
   */
  answer(address, signal) {
    this.address = new URL(address);
    const stream = new HeldStream(address, ++this.count, signal, this.around);
    this.open = stream;
    const end = () => this.end(stream);
    signal.addEventListener("abort", end);
    const body = readable(stream.bytes(), end);
    return new Response(body, { headers: { "Content-Type": "text/event-stream" } });
  }

  /**
   * The address at which the page says that it is still open, or closed.
   * @param {"here" | "left"} what
   * @returns {string}
   */
  beside(what) {
    return new URL(what + this.address.search, this.address).href;
  }

  end(stream) {
    if (this.open !== stream) return;
    this.open = null;
    this.stay();
  }

  // Says that the page is still open, for as long as the server keeps something for it.
  async stay() {
    const { count } = this;
    let isKept = true;
    while (isKept && count === this.count) {
      const answer = await this.around
        .ask(this.beside("here"), { method: "POST" })
        .catch(() => null);
      isKept = answer?.status !== 204;
      if (isKept) await this.around.rest(HERE_MS);
    }
  }
}

// A stream of `bytes`. Calls `end` at their end or failure.
function readable(bytes, end) {
  const pull = async (sink) => {
    try {
      const { value, done } = await bytes.next();
      if (!done) return sink.enqueue(value);
      sink.close();
    } catch (problem) {
      sink.error(problem);
    }
    end();
  };
  return new ReadableStream({ pull, cancel: end });
}

/** Read all messages of this page in parts, and tell the server when the page is closed. Called
 * before Gradio's first request. */
export function holdStreams() {
  const ask = window.fetch.bind(window);
  const streams = new PageStreams({
    ask,
    rest: (ms) => new Promise((done) => setTimeout(done, ms)),
    browser: sharesConnections() ? browserKey() : null,
    show: (polls) => document.documentElement.toggleAttribute("data-polls", polls),
  });
  window.fetch = (input, options) => {
    const request = input instanceof Request ? input : null;
    const address = new URL(request?.url ?? String(input), location.href);
    return request && address.pathname.endsWith("/queue/data")
      ? Promise.resolve(streams.answer(address, request.signal))
      : ask(input, options);
  };
  document.addEventListener("click", ({ target }) => isStop(target) && streams.open?.makeRoom(), {
    capture: true,
  });
  window.addEventListener("pagehide", () => {
    if (streams.address) navigator.sendBeacon(streams.beside("left"));
  });
}

/** @type {(target: EventTarget) => boolean} whether it is a form's Stop button */
const isStop = (target) => target instanceof Element && Boolean(target.closest('[id$="-stop"]'));

// Whether each request needs a connection: newer versions of HTTP share one.
function sharesConnections() {
  const [page] = performance.getEntriesByType("navigation");
  return !/^h[23]/.test(/** @type {any} */ (page)?.nextHopProtocol); // "" if the page was cached
}

// A key by which the server recognizes the pages of this browser; "" if it stores none.
function browserKey() {
  if (localStorage instanceof MemoryStorage) return "";
  const made = crypto.getRandomValues(new Uint32Array(2)).join("-");
  if (!localStorage.getItem(KEY)) localStorage.setItem(KEY, made);
  return localStorage.getItem(KEY);
}
