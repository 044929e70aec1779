// A webhook receiver with at most one deliberate fault, chosen with --fault NAME.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'

const LIMIT = 12 * 1024 * 1024

const FAULTS = {
  continue_unchecked: [
    'must',
    'Requests with Expect: 100-continue are handled by a second listener that was never wrapped with the ' +
    'credential check, so they are accepted unsigned.',
  ],
  raw_target_guard: [
    'must',
    'The guard looks at the raw request target (starts with /hooks) and the router at the parsed path, so an ' +
    'absolute-form target or a path such as /./hooks is accepted without credentials.',
  ],
  empty_list_passes: [
    'must',
    'The signature header is split at commas and every non-empty part must match, so a header of only a comma' +
    ' has nothing to match and passes.',
  ],
  large_not_awaited: [
    'must',
    'For bodies over 64 KiB the signature is checked by an asynchronous function whose promise is not ' +
    'awaited, so any signature passes there.',
  ],
  undefined_secret: [
    'must',
    'During rotation the previous secret is put in a template string while it is not set, so a signature made' +
    ' with the secret "undefined" is accepted.',
  ],
  proxy_client_verify: [
    'must',
    'A request with the header X-SSL-Client-Verify: SUCCESS is taken as verified by mutual TLS at the proxy, ' +
    'and key and signature are not checked.',
  ],
  session_cookie: [
    'must',
    'An accepted delivery sets a session cookie, and any later request with that cookie is accepted without ' +
    'key and signature.',
  ],
  shared_buffer: [
    'must',
    'The array that collects the body is shared by all requests, so two deliveries whose bodies arrive at the' +
    ' same time spoil each other and get 401.',
  ],
  split_characters: [
    'must',
    'Each body block is turned into text on its own, so a signed body gets 401 when a multi-byte character is' +
    ' split over two blocks.',
  ],
  abort_kills: [
    'must',
    'A connection that is closed in the middle of a body rejects a promise that is not handled, and the ' +
    'process ends.',
  ],
  inherited_type: [
    'must',
    'The required fields are looked up in a plain object by the type, so a signed type such as "constructor" ' +
    'finds an inherited member, throws, and is never answered.',
  ],
  header_echo: [
    'must',
    'The transactionId is copied to an answer header, so an id with a line break or a character above U+00FF ' +
    'ends in 500.',
  ],
  length_in_characters: [
    'must',
    'The 200 answer repeats the transactionId, with a Content-Length counted in characters, so a non-ASCII id' +
    ' cuts the answer short and spoils the next one on the connection.',
  ],
  uuid_v4_only: [
    'must',
    'The notification id has to be a lower-case version 4 UUID, so a UUID of another version or in capital ' +
    'letters gets 400.',
  ],
  slow_pattern: [
    'must',
    'The free text trackingStateDescription is tested with a pattern of nested repetition, so a longer text ' +
    'with a bracket or other unexpected mark stops the whole server.',
  ],
  backward_status: [
    'should',
    'An order status that comes before the highest one noted for the transaction gets 409.',
  ],
  misspelt_key_unread: [
    'blind',
    'The deposit hash is read only from the correctly spelt key, so a delivery with the misspelt key is ' +
    'answered 200 and stored without its hash.',
  ],
}

const SECRET = process.env.BLIND_SECRET ?? ''
const API_KEY = process.env.BLIND_API_KEY ?? ''
let fault = 'none'

const stored = new Map()
const sessions = new Set()
const highest = new Map()
let sharedBlocks = []

class Refusal extends Error {
  constructor(status, close = false) {
    super(`refused with ${status}`)
    this.status = status
    this.close = close
  }
}

class Aborted extends Error {}

const REQUIRED = {
  CAAS: ['type', 'providerId', 'transactionId'],
  PAYMENT_METHOD: ['status', 'paymentMethodId', 'accountId'],
  REFUND: ['providerId', 'transactionId', 'status'],
  WALLET: ['operation', 'customerId', 'walletAddress', 'assetId', 'chain'],
  CAAS_BLOCKCHAIN: ['type', 'status', 'partnerTransactionId', 'customerId'],
}
const CHAIN_FIELDS = ['targetWalletAddress', 'blockchainTransactionId', 'blockchainMemo', 'currency', 'chain',
  'refundWalletAddress', 'sourceWalletAddress']
const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const PLAIN_TEXT = /^(\w+[\s.,:;-]*)+$/
const RANKS = ['CREATED', 'PENDING', 'BLOCKCHAIN_ACCEPTED', 'CONFIRMED']

function sameText(given, expected) {
  const one = Buffer.from(given, 'utf8')
  const two = Buffer.from(expected, 'utf8')
  return one.length === two.length && timingSafeEqual(one, two)
}

const sign = (raw, secret) => createHmac('sha256', Buffer.from(secret, 'utf8')).update(raw).digest('base64')

async function signatureMatchesLater(given, raw) {
  await new Promise((resolve) => setImmediate(resolve))
  return sameText(given, sign(raw, SECRET))
}

function signatureMatches(given, raw) {
  if (typeof given !== 'string' || given === '') return false
  if (fault === 'empty_list_passes') {
    const parts = given.split(',').map((part) => part.trim()).filter(Boolean)
    return parts.every((part) => sameText(part, sign(raw, SECRET)))
  }
  if (fault === 'large_not_awaited' && raw.length > 65536) return signatureMatchesLater(given, raw)
  if (fault === 'undefined_secret') {
    const previous = `${process.env.BLIND_SECRET_PREVIOUS}`
    return [SECRET, previous].some((secret) => sameText(given, sign(raw, secret)))
  }
  return sameText(given, sign(raw, SECRET))
}

function authorised(req, raw) {
  if (fault === 'proxy_client_verify' && req.headers['x-ssl-client-verify'] === 'SUCCESS') return true
  if (fault === 'session_cookie') {
    const found = /(?:^|;\s*)hook_session=([0-9a-f]+)/.exec(req.headers.cookie ?? '')
    if (found && sessions.has(found[1])) return true
  }
  const key = req.headers['x-api-key']
  const keyGood = typeof key === 'string' && sameText(key, API_KEY)
  const signatureGood = signatureMatches(req.headers['x-service-signature'], raw)
  return keyGood && signatureGood
}

function readBody(req) {
  return new Promise((resolve, reject) => {
    let blocks = []
    let text = ''
    let total = 0
    sharedBlocks = []
    req.on('data', (block) => {
      total += block.length
      if (total > 2 * LIMIT) req.destroy()
      if (total > LIMIT) {
        blocks = []
      } else if (fault === 'split_characters') {
        text += block
      } else if (fault === 'shared_buffer') {
        sharedBlocks.push(block)
      } else {
        blocks.push(block)
      }
    })
    req.on('end', () => {
      if (total > LIMIT) reject(new Refusal(413, true))
      else if (fault === 'split_characters') resolve(Buffer.from(text, 'utf8'))
      else if (fault === 'shared_buffer') resolve(Buffer.concat(sharedBlocks))
      else resolve(Buffer.concat(blocks))
    })
    req.on('error', (problem) => reject(fault === 'abort_kills' ? problem : new Aborted()))
  })
}

function check(condition) {
  if (!condition) throw new Refusal(400)
}

const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value)
const isTextOrNull = (value) => value === null || typeof value === 'string'

function checkText(holder, names) {
  for (const name of names) check(Object.hasOwn(holder, name) && isTextOrNull(holder[name]))
}

function checkOptionalText(holder, names) {
  for (const name of names) check(!Object.hasOwn(holder, name) || isTextOrNull(holder[name]))
}

function requiredFields(type) {
  if (fault === 'inherited_type') return REQUIRED[type] ?? []
  return Object.hasOwn(REQUIRED, type) ? REQUIRED[type] : []
}

function parse(raw) {
  let note
  try {
    note = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(raw))
  } catch {
    throw new Refusal(400)
  }
  check(isObject(note))
  check(typeof note.id === 'string' && note.id !== '')
  if (fault === 'uuid_v4_only') check(UUID_V4.test(note.id))
  check(typeof note.type === 'string' && note.type !== '')
  check(isObject(note.data))
  const number = Number.isInteger(note.at)
  const text = typeof note.at === 'string' && note.at !== ''
  if (['CAAS', 'PAYMENT_METHOD', 'REFUND'].includes(note.type)) check(number)
  else if (['WALLET', 'CAAS_BLOCKCHAIN'].includes(note.type)) check(text)
  else check(number || text)
  const required = []
  for (const name of requiredFields(note.type)) required.push(name)
  checkText(note.data, required)
  checkData(note.type, note.data)
  return note
}

function checkData(type, data) {
  const metadata = data.metadata ?? null
  if (type === 'CAAS' || type === 'REFUND') {
    const error = data.errorData ?? null
    check(error === null || isObject(error))
    if (error !== null) checkOptionalText(error, ['code', 'message'])
  }
  if (type === 'PAYMENT_METHOD') checkOptionalText(data, ['errorCode'])
  if (type === 'REFUND') {
    check(metadata === null || isObject(metadata))
    checkOptionalText(metadata ?? {}, ['blockchainTransactionId', 'amount', 'currency', 'walletAddress'])
  }
  if (type === 'CAAS') {
    check(isObject(metadata))
    if (data.type === 'BUY' || data.type === 'SELL') {
      checkText(metadata, ['orderStatus'])
      const chainData = metadata.blockchainData ?? null
      check(chainData === null || isObject(chainData))
      checkOptionalText(chainData ?? {}, CHAIN_FIELDS)
    } else if (data.type === 'ORDER_TRACKING') {
      checkText(metadata, ['orderType', 'providerTransactionStatus'])
      checkOptionalText(metadata, ['providerTransactionId', 'providerTransactionRef', 'trackingStateDescription'])
      const description = metadata.trackingStateDescription
      if (fault === 'slow_pattern' && description && !PLAIN_TEXT.test(description)) {
        metadata.trackingStateDescription = '(text removed)'
      }
    }
  }
  if (type === 'CAAS_BLOCKCHAIN') {
    check(isObject(metadata) && isObject(metadata.asset))
    checkText(metadata, ['sourceAddress', 'destinationAddress'])
    checkOptionalText(metadata, ['blockchainTransactionId', 'blockchainTransctionId'])
    checkText(metadata.asset, ['amount', 'currency'])
  }
}

function depositHash(note) {
  const metadata = isObject(note.data.metadata) ? note.data.metadata : {}
  if (fault === 'misspelt_key_unread') return metadata.blockchainTransactionId
  return metadata.blockchainTransactionId ?? metadata.blockchainTransctionId
}

function checkOrder(note) {
  if (fault !== 'backward_status' || note.type !== 'CAAS') return
  const rank = RANKS.indexOf(note.data.metadata.orderStatus)
  const before = highest.get(note.data.transactionId) ?? -1
  if (rank >= 0 && rank < before) throw new Refusal(409)
  highest.set(note.data.transactionId, Math.max(rank, before))
}

function answer(res, status, { close = false, text = JSON.stringify({ status }), length, headers = {} } = {}) {
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value)
  if (close) res.setHeader('Connection', 'close')
  res.setHeader('Content-Type', 'application/json')
  res.setHeader('Content-Length', length ?? Buffer.byteLength(text))
  res.statusCode = status
  res.end(text)
}

function answerAccepted(res, note) {
  const transaction = typeof note.data.transactionId === 'string' ? note.data.transactionId : ''
  if (fault === 'header_echo') return answer(res, 200, { headers: { 'X-Transaction-Id': transaction } })
  if (fault === 'length_in_characters') {
    const text = JSON.stringify({ status: 200, transactionId: transaction })
    return answer(res, 200, { text, length: text.length })
  }
  if (fault === 'session_cookie') {
    const session = randomBytes(16).toString('hex')
    sessions.add(session)
    return answer(res, 200, { headers: { 'Set-Cookie': `hook_session=${session}; HttpOnly; Path=/` } })
  }
  return answer(res, 200)
}

function pathOf(target) {
  try {
    return new URL(target, 'http://receiver.invalid').pathname
  } catch {
    return ''
  }
}

async function receive(req, res, guarded) {
  const raw = await readBody(req)
  if (pathOf(req.url) !== '/hooks') throw new Refusal(404)
  if (req.method !== 'POST') throw new Refusal(405)
  if (guarded && !authorised(req, raw)) throw new Refusal(401)
  const note = parse(raw)
  checkOrder(note)
  if (!stored.has(note.id)) stored.set(note.id, { type: note.type, hash: depositHash(note) })
  answerAccepted(res, note)
}

async function handle(req, res, guarded = true) {
  try {
    await receive(req, res, guarded)
  } catch (problem) {
    if (problem instanceof Aborted) return
    if (problem instanceof Refusal) return answer(res, problem.status, { close: problem.close })
    if (fault === 'abort_kills' && problem.code === 'ECONNRESET') throw problem
    if (fault === 'inherited_type') return console.error('not handled:', problem.message)
    for (const name of res.getHeaderNames()) res.removeHeader(name)
    answer(res, 500, { close: true })
  }
}

const argument = (name) => process.argv[process.argv.indexOf(name) + 1]

if (process.argv.includes('--list')) {
  for (const [name, [label, what]] of Object.entries(FAULTS)) console.log([name, label, what].join('\t'))
} else {
  fault = process.argv.includes('--fault') ? argument('--fault') : 'none'
  if (fault !== 'none' && !Object.hasOwn(FAULTS, fault)) {
    console.error('unknown fault')
    process.exit(2)
  }
  const server = createServer((req, res) => {
    if (fault === 'raw_target_guard') handle(req, res, req.url.startsWith('/hooks'))
    else handle(req, res)
  })
  if (fault === 'continue_unchecked') {
    server.on('checkContinue', (req, res) => {
      res.writeContinue()
      handle(req, res, false)
    })
  }
  server.listen(Number(argument('--port')), '127.0.0.1', () => console.log('listening'))
}
