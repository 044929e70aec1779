# frozen_string_literal: true

# Webhook receivers with one fault each: a Rack application, served by the installed Puma (no other gem).
require 'json'
require 'openssl'
require 'optparse'
require 'securerandom'
require 'rack'
require 'puma'
require 'puma/server'

FAULTS = [
  ['malformed-base64-fails-open', 'must',
   'Strict Base64 decoding of the signature raises, the error is rescued, and the request counts as verified.'],
  ['sha1-signature-still-accepted', 'must',
   'A signature of 28 characters is checked as HMAC-SHA1, the scheme before the last one.'],
  ['hmac-over-stripped-body', 'must',
   'The HMAC is computed over body.strip, so white space at either end is not covered as sent.'],
  ['key-hashed-with-des-crypt', 'must',
   'The API key is compared as a DES crypt hash, which reads only the first eight characters.'],
  ['empty-previous-secret', 'must',
   'The previous secret of a rotation is unset and becomes an empty string, so an empty HMAC key is accepted.'],
  ['verdict-memoised-in-instance', 'must',
   'The verdict is memoised with ||= in the one application object: after one good delivery all requests pass.'],
  ['encoded-path-passes-guard', 'must',
   'The guard compares the raw path, the router the decoded path, so /%68ooks is served unauthenticated.'],
  ['http-1-0-taken-for-probe', 'must',
   'Any HTTP/1.0 POST is taken for a probe of the load balancer and answered 200.'],
  ['form-payload-unsigned', 'must',
   'A form-encoded request with a payload field is accepted through an older route without signature and key.'],
  ['charset-unknown-to-ruby', 'must',
   'The body is tagged with the charset of the Content-Type before authentication; an unknown name gives 500.'],
  ['session-cookie-replaces-credentials', 'must',
   'A good delivery sets a session cookie, and a request with that cookie needs no key and no signature.'],
  ['known-id-answered-before-auth', 'must',
   'A body with an id processed before is answered 200 before key and signature are checked.'],
  ['refund-error-always-read', 'must',
   'The handler of refunds reads errorData.code for every status; a SUCCESS without errorData gives 500.'],
  ['four-byte-characters-break-insert', 'must',
   'The database column takes UTF-8 of three bytes at most; a delivery with an emoji in data gives 500.'],
  ['deposits-answered-202', 'must',
   'Notifications of type CAAS_BLOCKCHAIN are queued and answered 202.'],
  ['pipe-fills-on-large-body', 'must',
   'The verified body is written into a pipe before anything reads it; beyond 64 KiB the request hangs.'],
  ['penalty-doubles-per-failure', 'must',
   'Each failed authentication sleeps twice as long as the one before (0.5 s at first), without any reset.'],
  ['duplicate-answered-409', 'should',
   'A notification with an id accepted before is answered 409.'],
  ['null-chain-fields-refused', 'should',
   'A null in a text field of blockchainData is answered 400.'],
  ['amount-stored-as-float', 'blind',
   'Amounts are kept as Float, so long atomic amounts lose digits in the store.']
].freeze

MAX_BODY = 12 * 1024 * 1024
CHAIN_FIELDS = %w[targetWalletAddress blockchainTransactionId blockchainMemo currency chain refundWalletAddress
                  sourceWalletAddress].map { |name| "metadata.blockchainData.#{name}" }.freeze
TEXT_FIELDS = {
  'CAAS' => CHAIN_FIELDS + %w[
    type providerId transactionId metadata.orderStatus metadata.orderType metadata.providerTransactionId
    metadata.providerTransactionRef metadata.providerTransactionStatus metadata.trackingStateDescription
    errorData.code errorData.message
  ],
  'REFUND' => %w[
    providerId transactionId status metadata.blockchainTransactionId metadata.amount metadata.currency
    metadata.walletAddress errorData.code errorData.message
  ],
  'PAYMENT_METHOD' => %w[status paymentMethodId accountId errorCode],
  'WALLET' => %w[operation customerId walletAddress assetId chain],
  'CAAS_BLOCKCHAIN' => %w[
    type status partnerTransactionId customerId metadata.sourceAddress metadata.destinationAddress
    metadata.asset.amount metadata.asset.currency metadata.blockchainTransactionId metadata.blockchainTransctionId
  ]
}.freeze
REQUIRED_FIELDS = {
  'CAAS' => %w[type transactionId], 'REFUND' => %w[transactionId status],
  'PAYMENT_METHOD' => %w[status paymentMethodId], 'WALLET' => %w[operation walletAddress],
  'CAAS_BLOCKCHAIN' => %w[type status]
}.freeze

class Malformed < StandardError; end

# The application object lives as long as the server and is shared by its threads.
class Receiver
  def initialize(fault, secret, api_key)
    @fault = fault
    @secret = secret
    @api_key = api_key
    @lock = Mutex.new
    @ids = {}
    @sessions = {}
    @failures = 0
    @amounts = {}
  end

  def fault?(name)
    @fault == name
  end

  def call(env)
    path = env['PATH_INFO']
    guarded = true
    if path != '/hooks'
      return answer(404, 'not found') unless fault?('encoded-path-passes-guard') && decoded(path) == '/hooks'

      guarded = false
    end
    return answer(405, 'method not allowed', 'Allow' => 'POST') unless env['REQUEST_METHOD'] == 'POST'
    return answer(200, 'up') if fault?('http-1-0-taken-for-probe') && env['HTTP_VERSION'] == 'HTTP/1.0'

    raw = env['rack.input'].read(MAX_BODY + 1) || ''.b
    return answer(413, 'body too large') if raw.bytesize > MAX_BODY

    receive(env, raw, guarded)
  rescue Malformed, JSON::ParserError
    answer(400, 'malformed payload')
  rescue StandardError => e
    warn "#{e.class} while receiving"
    answer(500, 'internal error')
  end

  private

  def decoded(path)
    Rack::Utils.unescape_path(path)
  rescue ArgumentError
    path
  end

  def answer(status, text, headers = {})
    body = "#{JSON.generate('result' => text)}\n"
    [status, { 'Content-Type' => 'application/json', 'Content-Length' => body.bytesize.to_s }.merge(headers), [body]]
  end

  def receive(env, raw, guarded)
    if fault?('charset-unknown-to-ruby')
      charset = env['CONTENT_TYPE'].to_s[/charset="?([^\s;"]+)/i, 1]
      raw.dup.force_encoding(charset).valid_encoding? if charset
    end
    if fault?('form-payload-unsigned') && env['CONTENT_TYPE'].to_s.start_with?('application/x-www-form-urlencoded')
      payload = form_payload(raw)
      return accept(payload, raw) if payload
    end
    return answer(200, 'already processed') if fault?('known-id-answered-before-auth') && known_id?(raw)

    unless !guarded || authorised?(env, raw)
      punish if fault?('penalty-doubles-per-failure')
      return answer(401, 'unauthorized')
    end
    accept(parse(raw), raw)
  end

  def form_payload(raw)
    text = URI.decode_www_form(raw.dup.force_encoding('UTF-8')).assoc('payload')&.last
    text && parse(text.b)
  rescue ArgumentError
    nil
  end

  def known_id?(raw)
    id = JSON.parse(raw.dup.force_encoding('UTF-8'))['id']
    id.is_a?(String) && @lock.synchronize { @ids.key?(id) }
  rescue StandardError
    false
  end

  def punish
    pause = @lock.synchronize { 0.5 * (2**(@failures += 1)) / 2 }
    sleep([pause, 60].min)
  end

  # --- authentication ---

  def authorised?(env, raw)
    return @verdict ||= credentials?(env, raw) if fault?('verdict-memoised-in-instance')
    return true if fault?('session-cookie-replaces-credentials') && session?(env)

    credentials?(env, raw)
  end

  def session?(env)
    sid = Rack::Utils.parse_cookies(env)['hooksid']
    @lock.synchronize { @sessions.key?(sid) }
  end

  def credentials?(env, raw)
    key = key_good?(env['HTTP_X_API_KEY'].to_s)
    signature = signature_good?(env['HTTP_X_SERVICE_SIGNATURE'].to_s, raw)
    key && signature
  end

  def key_good?(given)
    return OpenSSL.secure_compare(given.crypt('wh'), @api_key.crypt('wh')) if fault?('key-hashed-with-des-crypt')

    OpenSSL.secure_compare(given, @api_key)
  end

  def sign(raw, digest: 'SHA256', secret: @secret)
    [OpenSSL::HMAC.digest(digest, secret, raw)].pack('m0')
  end

  def signature_good?(given, raw)
    case @fault
    when 'malformed-base64-fails-open'
      begin
        return OpenSSL.secure_compare(given.unpack1('m0'), sign(raw).unpack1('m0'))
      rescue ArgumentError => e
        warn "signature not checked: #{e.class}"
        return true
      end
    when 'sha1-signature-still-accepted'
      return OpenSSL.secure_compare(given, sign(raw, digest: 'SHA1')) if given.length == 28
    when 'hmac-over-stripped-body'
      raw = raw.strip
    when 'empty-previous-secret'
      previous = ENV['BLIND_SECRET_PREVIOUS'].to_s
      return true if OpenSSL.secure_compare(given, sign(raw, secret: previous))
    end
    OpenSSL.secure_compare(given, sign(raw))
  end

  # --- payload ---

  def parse(raw)
    text = raw.dup.force_encoding('UTF-8')
    raise Malformed unless text.valid_encoding?

    validate(JSON.parse(text))
  end

  def walk(data, path)
    path.split('.').reduce(data) do |found, part|
      return nil if found.nil?
      raise Malformed unless found.is_a?(Hash)

      found[part]
    end
  end

  def validate(payload)
    raise Malformed unless payload.is_a?(Hash) && %w[id type at data].all? { |name| payload.key?(name) }
    raise Malformed unless [payload['id'], payload['type']].all? { |value| value.nil? || value.is_a?(String) }
    raise Malformed unless [NilClass, Integer, String].any? { |kind| payload['at'].is_a?(kind) }

    data = payload['data']
    raise Malformed unless data.is_a?(Hash)

    type = payload['type']
    raise Malformed unless REQUIRED_FIELDS.fetch(type, []).all? { |name| data.key?(name) }

    TEXT_FIELDS.fetch(type, []).each do |path|
      value = walk(data, path)
      raise Malformed unless value.nil? || value.is_a?(String)
    end
    refuse_null_chain_fields(data) if fault?('null-chain-fields-refused') && type == 'CAAS'
    payload
  end

  def refuse_null_chain_fields(data)
    chain_data = walk(data, 'metadata.blockchainData')
    raise Malformed if chain_data&.any? { |name, v| v.nil? && CHAIN_FIELDS.any? { |f| f.end_with?(".#{name}") } }
  end

  # --- processing ---

  def accept(payload, raw)
    data = payload['data']
    case @fault
    when 'refund-error-always-read'
      note("refund error #{data['errorData']['code']}") if payload['type'] == 'REFUND'
    when 'four-byte-characters-break-insert'
      raise 'Incorrect string value' if wide?(data)
    when 'deposits-answered-202'
      return answer(202, 'queued') if payload['type'] == 'CAAS_BLOCKCHAIN'
    when 'pipe-fills-on-large-body'
      reader, writer = IO.pipe
      writer.write(raw)
      writer.close
      note("archived #{reader.read.bytesize} bytes")
      reader.close
    when 'amount-stored-as-float'
      @amounts[payload['id']] = walk(data, 'metadata.asset.amount').to_f
    end
    first = @lock.synchronize { !@ids.key?(payload['id']).tap { @ids[payload['id']] = true } }
    return answer(409, 'duplicate') if fault?('duplicate-answered-409') && !first

    answer(200, 'ok', session_header)
  end

  def wide?(value)
    case value
    when String then value.scrub.match?(/[\u{10000}-\u{10FFFF}]/)
    when Array then value.any? { |item| wide?(item) }
    when Hash then value.any? { |pair| wide?(pair) }
    else false
    end
  end

  def session_header
    return {} unless fault?('session-cookie-replaces-credentials')

    sid = SecureRandom.hex(16)
    @lock.synchronize { @sessions[sid] = true }
    { 'Set-Cookie' => "hooksid=#{sid}; Path=/; HttpOnly" }
  end

  def note(text)
    @last_note = text
  end
end

options = { fault: 'none', port: 8080 }
OptionParser.new do |parser|
  parser.on('--list') { options[:list] = true }
  parser.on('--fault NAME') { |name| options[:fault] = name }
  parser.on('--port N', Integer) { |port| options[:port] = port }
end.parse!

if options[:list]
  FAULTS.each { |row| puts row.join("\t") }
  exit
end
abort "unknown fault: #{options[:fault]}" unless ['none', *FAULTS.map(&:first)].include?(options[:fault])

%w[TERM INT].each { |signal| trap(signal) { exit!(0) } }
receiver = Receiver.new(options[:fault], ENV.fetch('BLIND_SECRET', ''), ENV.fetch('BLIND_API_KEY', ''))
server = Puma::Server.new(receiver, Puma::Events.stdio, min_threads: 1, max_threads: 5)
server.add_tcp_listener('127.0.0.1', options[:port])
thread = server.run
$stdout.puts 'listening'
$stdout.flush
thread.join
