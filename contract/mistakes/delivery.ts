import { DEVELOPMENT_SERVER, INSERTED_ONCE } from './code-by-stack.ts';
import { ids, mistakes } from './mistake.ts';

/** Mistakes with duplicates, order, load, concurrency, and state that is kept between deliveries. */
export const DELIVERY_MISTAKES = mistakes({
  'copy-rejected': {
    title: 'Does not accept a copy of a notification that it already has',
    seen:
      'Unhandled violations of a unique key, locks that the first delivery still holds, validators that require a ' +
      'new id, guards against double booking, and guides that answer 409.',
    why:
      'When a 200 is lost on the network, the sender repeats the delivery. An answer other than 200 makes it ' +
      'repeat the delivery forever.',
    fix: {
      rule:
        'Let the unique key on id decide, and answer 200 if the id is known: skip the work, not the answer. Record ' +
        'an id only when its delivery has passed every check. If the first delivery still holds a lock, let the copy ' +
        'wait for it.',
      ...INSERTED_ONCE,
      node:
        'Await the insert inside the handler, with ON CONFLICT DO NOTHING, and answer 200 whether a row was ' +
        'written or not.',
    },
    severity: 'medium',
    cwe: 393,
    implies: ['lookup-before-insert', 'copies-by-content'],
  },
  'lookup-before-insert': {
    title: 'Looks up a row and inserts it if it finds none',
    seen: 'A query for the id or for the customer, followed by an insert; sequential deliveries work.',
    why:
      'Concurrent deliveries all find nothing and all insert. All but one then fail at the unique key or, without ' +
      'such a key, are handled again.',
    fix: {
      rule:
        'Insert first and let a unique key in the database decide, and handle only what was inserted. Hold no lock ' +
        'while a notification is processed.',
      ...INSERTED_ONCE,
      node:
        'Insert with ON CONFLICT DO NOTHING, and handle the notification only if a row was inserted. For ' +
        'changes of a customer, use a queue with one worker per customer, and answer before the work starts.',
    },
    severity: 'high',
    cwe: 367,
    implies: ['effect-and-id-apart'],
  },
  'copies-by-content': {
    title: 'Recognises copies by something other than the id',
    seen:
      'Unique keys on the transaction, alone or with its status or time, or on a field that all deliveries share, ' +
      'hashes of the body, and double-click guards keyed by customer and ' +
      'second.',
    why: 'A different notification counts as a copy and is lost, or a copy with other whitespace counts as new.',
    fix: {
      rule: 'Recognise copies by the `id` of the notification only, and put the unique key of the inbox on it.',
    },
    severity: 'high',
    cwe: 1025,
    implies: ['transition-rejected', 'colliding-updates', 'unique-payload-field', 'kind-not-handled'],
  },
  'unique-payload-field': {
    title: 'Expects a field of the payload other than the id to be unique',
    seen:
      'Unique keys on the address, the hash, the transaction, or the customer and asset, and inserts without an ' +
      'update.',
    why:
      'One transaction has several statuses, one address several wallets, one transfer several deposits. All but ' +
      'the first fail with a database error.',
    fix: {
      rule:
        'Put the unique key on the id of the notification, and update other rows when they exist. Identify wallets ' +
        'by customer, asset and chain.',
      node:
        'Insert the notification with ON CONFLICT (id) DO NOTHING, and upsert what you derive from it: ON CONFLICT ' +
        '(transaction_id) DO UPDATE.',
      django: 'Use `update_or_create`, and remove `unique=True` from fields of the payload.',
      rails: 'Use `upsert`, and remove `validates_uniqueness_of` from fields of the payload.',
    },
    severity: 'high',
    cwe: 694,
    implies: ['transition-rejected'],
  },
  'colliding-updates': {
    title: 'Changes one record for several notifications at the same time',
    seen:
      'Balances and records of customers that are read, changed and written back; optimistic locking and ' +
      'serialisable transactions without a retry.',
    why: 'Concurrent notifications of one order or customer overwrite each other, or some of them fail.',
    fix: {
      rule:
        'Store each notification, answer, and then apply notifications to orders and customers one by one. Insert ' +
        'deposits and wallets as separate rows, and add up the deposits for the balance.',
      node:
        'Use a queue with one worker per transaction or customer, and answer before it. Write `INSERT INTO wallets ' +
        '...` instead of an update of a JSON column.',
    },
    severity: 'high',
    cwe: 362,
  },
  'remembered-before-checks': {
    title: 'Remembers a delivery before it has passed every check',
    seen:
      'Idempotency middleware, a log of all requests or a check of times before the verification, and parsers that ' +
      'report the id early.',
    why:
      'A rejected delivery takes the place of the valid delivery that follows. If this happens before the signature ' +
      'is checked, anyone who knows an id can block or replace a notification.',
    fix: {
      rule:
        'Parse and validate the whole delivery first. Look at the id only after key, signature and payload are ' +
        'validated, and record it together with the notification.',
      node:
        'Move the deduplication after the verification and the schema, into the transaction that stores the ' +
        'notification.',
      laravel: 'Put the idempotency middleware after the verification.',
      rails: 'Verify in a `before_action` that is declared before the lookup of ids.',
    },
    severity: 'critical',
    cwe: 696,
    implies: ['verdict-kept-by-id', 'failures-lock-out', 'resource-not-released'],
  },
  'verdict-kept-by-id': {
    title: 'Shares a verification result between deliveries with the same id',
    seen:
      'Caches of verification results, and layers that join requests in flight (single-flight, promise caches), ' +
      'with the id as their key.',
    why: 'A forgery with the id of a notification makes the valid one fail, or is accepted together with it.',
    fix: {
      rule: 'Verify each delivery and cache no result by id. Join copies only after each of them is verified.',
      node:
        'Remove the cache: an HMAC over a few kilobytes takes microseconds. Use body and signature together as the ' +
        'key of a promise cache, or leave verification out of it.',
      go: 'Do not put the verification into `singleflight.Do` with the id as its key.',
    },
    severity: 'critical',
    cwe: 345,
  },
  'transition-rejected': {
    title: 'Rejects a notification that does not fit the state it knows',
    seen:
      'State machines that throw on unlisted transitions, guards for closed transactions, comparisons of times, ' +
      'and 404 for an unknown transaction.',
    why:
      'Deliveries overtake each other, and the specification defines no transitions. A notification that does not ' +
      'fit is rejected on every retry.',
    fix: {
      rule:
        'Answer 200 to every valid notification, even for an unknown transaction, and decide afterwards, by `at`, ' +
        'whether it is new. Allow any transition.',
      node:
        'Store the notification and answer; run the state machine in a queue, and let it ignore late ' +
        'notifications.',
    },
    severity: 'high',
    cwe: 393,
    implies: ['refund-as-sell-state', 'cash-step-as-order-status', 'failures-lock-out'],
  },
  'refund-as-sell-state': {
    title: 'Treats a refund as a state of its sell',
    seen:
      'Guards for closed sells, handlers that load the failed sell first, and one column or key per sell for its ' +
      'refund or failure.',
    why:
      'A refund may come before, after or without the failure, and more than once. The result that says whether ' +
      'the money was returned is lost.',
    fix: {
      rule:
        'Store every refund by the id of its notification, whatever is known about its sell, and match it later. ' +
        'Keep the failure of a sell and that of its refund in separate fields.',
      node:
        'Use a separate table or column for refunds. Store the notification and answer; run the state machine in a ' +
        'queue, and let it ignore late notifications.',
    },
    severity: 'high',
    cwe: 393,
  },
  'cash-step-as-order-status': {
    title: 'Treats the cash step of an order as its status',
    seen: 'One status column for order and cash step, and queries for the open order of a step.',
    why:
      'Order and cash step share a transactionId and some words, and the provider reports the step in its own ' +
      'time. One of them closes the other, whose notification is rejected.',
    fix: {
      rule:
        'Store the cash step in separate fields of the transaction, allow it at any status, and recognise copies ' +
        'by their id.',
      node:
        'Store the notification and answer; run the state machine in a queue, and let it ignore late ' +
        'notifications.',
    },
    severity: 'high',
    cwe: 393,
  },
  'id-form-assumed': {
    title: 'Assumes a form of ids that is not specified',
    seen:
      'Patterns for UUIDs, short columns, conversions to numbers, and plain objects as caches, which have ' +
      'inherited properties.',
    why: 'The sender may use another form of ids at any time. Its notifications are then rejected or cause errors.',
    fix: {
      rule: 'Read ids as text of any form, keep them in maps, and store them in columns of at least 255 characters.',
    },
    severity: 'medium',
    cwe: 1286,
  },
  'failures-lock-out': {
    title: 'Locks out a sender or a transaction after invalid deliveries',
    seen:
      'Lock-outs for logins (fail2ban, Rack::Attack, django-axes), limits for a whole route, and counters by ' +
      'transaction from the unverified body.',
    why: 'An attacker with a few forgeries, or a few deliveries signed with an old secret, stops valid notifications.',
    fix: {
      rule:
        'Answer each invalid delivery with 401 and do nothing else. If you limit attempts, count only failures, by ' +
        'source address at most, and always accept valid credentials.',
      node: 'Count failures after the verification (`skipSuccessfulRequests`), and never reject a valid signature.',
      django: 'Exclude the endpoint from django-axes.',
      rails: 'Exclude the endpoint from Rack::Attack, or throttle only requests that were answered 401.',
    },
    severity: 'high',
    cwe: 645,
  },
  'load-rejected': {
    title: 'Rejects deliveries above a limit instead of queueing the work',
    seen:
      'Limits for requests or connections, small database pools, a single worker, full queues, and rate limits ' +
      'that never expire.',
    why:
      'Notifications arrive in bursts. Those above the limit are rejected, and where the limit never resets, so is ' +
      'everything that follows.',
    fix: {
      rule:
        'Accept all deliveries and work through a queue; limit the work, not the requests. Let requests wait for a ' +
        'database connection, and hold one only while you store.',
      node: 'Store and answer at once; limit the concurrency of the handlers.',
      flask: DEVELOPMENT_SERVER,
    },
    severity: 'high',
    cwe: 410,
    implies: ['state-shared-by-requests', 'uncaught-error'],
  },
  'resource-not-released': {
    title: 'Does not release, on every path, what a request acquired',
    seen:
      'Early returns and exceptions between acquire and release, locks without `finally`, reads without a timeout, ' +
      'and unbounded caches.',
    why:
      'Connections, workers, locks or memory run out, and deliveries are no longer accepted until a restart. ' +
      'Anyone who can trigger the path stops the receiver.',
    fix: {
      rule:
        'Release connections, locks and files on every path out of the handler, roll back in `finally`, set a ' +
        'timeout for reading a request, and limit what you keep in memory.',
      express:
        'Release in a `finally` block, and on `res.on("close")` for requests that are aborted; for locks, use ' +
        '`runExclusive` from async-mutex.',
      python: 'Use context managers, and never return between acquire and release.',
      go: 'Write `defer conn.Release()` directly after acquiring it.',
      dotnet: 'Use `await using`.',
    },
    severity: 'critical',
    cwe: 772,
    implies: ['uncaught-error'],
  },
  'state-shared-by-requests': {
    title: 'Shares buffers, parsers or results between requests',
    seen:
      'Variables of the module, the class or the connection, singletons and object pools, validators with a shared ' +
      'list of errors.',
    why:
      'The answer to a delivery depends on the one before it or next to it: valid ones fail, and forged ones can ' +
      'be accepted. A test with one delivery passes.',
    fix: {
      rule:
        'Use a new buffer, parser and result for every request, and pass them as values. Hash and parse exactly ' +
        'the bytes that were read for this request.',
      node: 'Keep state in local variables or in the request, never in `req.socket` or module variables.',
      python: 'Keep it in a local variable instead of a global one.',
      flask: 'Keep it in `g` instead of a global variable.',
      fastapi: 'Keep it in `request.state` instead of a global variable.',
      go: 'Use `buffer[:n]` or `io.ReadAll`.',
      spring: 'Controllers, filters and other beans are singletons: keep no per-request state in their fields.',
      dotnet: 'Register classes with per-request state as scoped, not as singletons.',
    },
    severity: 'critical',
    cwe: 488,
    implies: ids(
      'remembered-before-checks intermittent-failures body-left-unread verdict-kept-by-id resource-not-released',
    ),
  },
  'intermittent-failures': {
    title: 'Fails on a few valid deliveries, or answers them late, but accepts the same ones at other times',
    seen:
      'SQLite that is locked while another delivery is stored, one faulty instance behind a load balancer, and ' +
      'pooled ' +
      'connections that the database closed.',
    why: 'A single test nearly always passes. In production, each failure costs a retry and delays a notification.',
    fix: {
      rule:
        'Use the same configuration on every instance, connect and load everything before you listen, and let the ' +
        'pool test connections before use. Find out when the failures occur.',
      node:
        'Await the connection to the database, then call `listen`. Release connections in a `finally` block, and ' +
        'compare the instances behind the load balancer.',
      django:
        'Do not store in SQLite, or set `OPTIONS: {"timeout": 20, "transaction_mode": "IMMEDIATE"}` for it. Before ' +
        'Django 5.1, which adds this mode, `update_or_create` reads first and fails at once: set the timeout, and ' +
        'use `filter().update()` and then `get_or_create`.',
      flask:
        'Do not store in SQLite, or pass `timeout=20` to `sqlite3.connect`: writers exclude each other. ' +
        DEVELOPMENT_SERVER,
      fastapi: 'Do not store in SQLite, or pass `timeout=20` to `sqlite3.connect`: writers exclude each other.',
      php: 'Do not store in SQLite, or execute `PRAGMA busy_timeout = 20000`: writers exclude each other.',
    },
    severity: 'high',
    cwe: 755,
  },
  'uncaught-error': {
    title: 'Ends the process on an uncaught error',
    seen: 'Streams without an error listener, promises without await, and handlers that continue with a partial body.',
    why:
      'One delivery, or one connection that breaks, stops the receiver, and every notification fails until it is ' +
      'restarted.',
    fix: {
      rule:
        'Let the framework catch the errors of all handlers and answer them. Expect that a request can end before ' +
        'its body is complete, and drop it without an answer.',
      node:
        'Handle the events `aborted` and `error` of the request, and continue only after `end`. Await every ' +
        'promise of the handler, and catch the errors of work that goes on after the answer ' +
        '(`void handle(event).catch(log)`): an unhandled rejection ends Node.',
    },
    severity: 'critical',
    cwe: 248,
    implies: ['aborted-body-unhandled'],
  },
  'keep-alive-dropped': {
    title: 'Closes connections without announcing it and without an answer',
    seen:
      'Socket servers for one request per connection, workers that are recycled while processing one, and ' +
      'different keep-alive timeouts of proxy and server.',
    why:
      'The sender reuses connections. It cannot know whether the notification was processed, and must send it ' +
      'again.',
    fix: {
      rule:
        'Serve every request on a connection, or send `Connection: close` with the last answer. Stop workers ' +
        'between requests, and let the proxy close idle connections before the server does.',
      node:
        'Close the server on SIGTERM and complete the requests in progress; set `keepAliveTimeout` above that ' +
        'of the proxy. Do not call `req.socket.destroy()` after the answer.',
      flask: DEVELOPMENT_SERVER,
      go: 'Use `server.SetKeepAlivesEnabled(false)`, which sends `Connection: close`.',
    },
    severity: 'high',
    cwe: 404,
    implies: ['load-rejected'],
  },
});
