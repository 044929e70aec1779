// The event stream. It reconnects automatically, and resumes after the last event.

/** A connection without events for this many milliseconds is considered dead. */
const SILENCE = 40_000;
/**
 * A hidden page closes its connection after this many milliseconds, because browsers allow six connections per host.
 */
const HIDDEN = 60_000;

export function openStream({ onHello, onDelivery, onGap, onState }) {
  let source;
  let last;
  let waiting;
  let silence;
  let hidden;

  const alive = () => {
    clearTimeout(silence);
    silence = setTimeout(() => reconnect(0), SILENCE);
  };
  const reconnect = (ms) => {
    source?.close();
    source = undefined;
    clearTimeout(silence);
    clearTimeout(waiting);
    waiting = setTimeout(connect, ms);
  };
  const on = (name, use) =>
    source.addEventListener(name, (event) => {
      alive();
      use(JSON.parse(event.data), event);
    });

  function connect() {
    source = new EventSource(last === undefined ? 'events' : `events?after=${encodeURIComponent(last)}`);
    const mine = source;
    on('hello', (data) => {
      onState('live');
      onHello(data);
    });
    on('delivery', (data) => {
      last = data.id;
      onDelivery(data);
    });
    on('gap', onGap);
    on('ping', () => {});
    on('full', () => {
      onState('full');
      reconnect(10_000);
    });
    source.addEventListener('error', () => {
      if (mine !== source) return;
      onState('lost');
      // The browser does not reconnect, because it gives up after some errors.
      reconnect(1000);
    });
  }

  document.addEventListener('visibilitychange', () => {
    clearTimeout(hidden);
    if (document.hidden) {
      hidden = setTimeout(() => {
        source?.close();
        source = undefined;
        clearTimeout(silence);
        clearTimeout(waiting);
      }, HIDDEN);
    } else if (source === undefined) reconnect(0);
  });
  connect();
}
