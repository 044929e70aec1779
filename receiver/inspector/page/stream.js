// The stream of events. It connects again by itself, and goes on where it was.

/** Without any sign of life for so long, the connection is taken for dead. In milliseconds. */
const SILENCE = 40_000;
/** A page that nobody looks at gives its connection back after a while: browsers allow six to an address. In milliseconds. */
const HIDDEN = 60_000;

export function openStream({ onHello, onDelivery, onGap, onState }) {
  let source;
  let last;
  let waiting;
  let silence;
  let hidden;

  const alive = () => {
    clearTimeout(silence);
    silence = setTimeout(() => again(0), SILENCE);
  };
  const again = (ms) => {
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
      again(10_000);
    });
    source.addEventListener('error', () => {
      if (mine !== source) return;
      onState('lost');
      // Not left to the browser, which gives up after some errors and keeps its own time.
      again(1000);
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
    } else if (source === undefined) again(0);
  });
  connect();
}
