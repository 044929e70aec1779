# Webhook receivers with one fault each: Ruby standard library, sockets and threads.
#   ruby receivers.rb --list
#   ruby receivers.rb --fault NAME --port N      (NAME: none or one of the list)
require 'base64'
require 'io/wait'
require 'json'
require 'openssl'
require 'socket'

SECRET = ENV.fetch('BLIND_SECRET', '')
API_KEY = ENV.fetch('BLIND_API_KEY', '')
LIMIT = 12 * 1024 * 1024
SECONDS_TYPES = %w[CAAS PAYMENT_METHOD REFUND].freeze
TEXT_TIME_TYPES = %w[WALLET CAAS_BLOCKCHAIN].freeze
REASONS = {
  200 => 'OK', 400 => 'Bad Request', 401 => 'Unauthorized', 403 => 'Forbidden', 404 => 'Not Found',
  405 => 'Method Not Allowed', 409 => 'Conflict', 413 => 'Content Too Large', 417 => 'Expectation Failed',
  431 => 'Request Header Fields Too Large', 500 => 'Internal Server Error', 501 => 'Not Implemented',
  505 => 'HTTP Version Not Supported'
}.freeze

class Malformed < StandardError; end

# The request cannot be read: the status is answered and the connection closed.
class Framing < StandardError
  attr_reader :status

  def initialize(status)
    super(status.to_s)
    @status = status
  end
end

Request = Struct.new(:verb, :path, :version, :headers, :body)

# ---------------------------------------------------------------- the shape of a payload

module Shape
  module_function

  def texts(parent, *names)
    names.each { |name| raise Malformed unless parent[name].nil? || parent[name].is_a?(String) }
  end

  def object(parent, name, required: false)
    value = parent[name]
    return {} if value.nil? && !required
    raise Malformed unless value.is_a?(Hash)

    value
  end

  def amount(parent)
    value = parent['amount']
    return if value.nil?
    raise Malformed unless value.is_a?(String) && value.match?(/\A[0-9]+(\.[0-9]+)?\z/)
  end

  def check(payload)
    raise Malformed unless payload.is_a?(Hash) && payload['id'].is_a?(String) && !payload['id'].empty?
    raise Malformed unless payload['type'].is_a?(String) && payload['data'].is_a?(Hash)

    time(payload['type'], payload['at'])
    data(payload['type'], payload['data'])
  end

  def time(type, value)
    raise Malformed unless value.is_a?(Integer) || value.is_a?(String)
    raise Malformed if SECONDS_TYPES.include?(type) && !value.is_a?(Integer)
    raise Malformed if TEXT_TIME_TYPES.include?(type) && !value.is_a?(String)
  end

  def data(type, data)
    case type
    when 'CAAS' then order(data)
    when 'REFUND'
      texts(data, 'providerId', 'transactionId', 'status')
      texts(object(data, 'errorData'), 'code', 'message')
      metadata = object(data, 'metadata')
      texts(metadata, 'blockchainTransactionId', 'currency', 'walletAddress')
      amount(metadata)
    when 'PAYMENT_METHOD' then texts(data, 'status', 'paymentMethodId', 'accountId', 'errorCode')
    when 'WALLET' then texts(data, 'operation', 'customerId', 'walletAddress', 'assetId', 'chain')
    when 'CAAS_BLOCKCHAIN'
      texts(data, 'type', 'status', 'partnerTransactionId', 'customerId')
      metadata = object(data, 'metadata')
      texts(metadata, 'sourceAddress', 'destinationAddress', 'blockchainTransactionId', 'blockchainTransctionId')
      asset = object(metadata, 'asset')
      texts(asset, 'currency')
      amount(asset)
    end
  end

  def order(data)
    raise Malformed unless data['type'].is_a?(String)

    texts(data, 'providerId', 'transactionId')
    texts(object(data, 'errorData'), 'code', 'message')
    metadata = object(data, 'metadata', required: true)
    if data['type'] == 'ORDER_TRACKING'
      texts(metadata, 'orderType', 'providerTransactionId', 'providerTransactionRef',
            'providerTransactionStatus', 'trackingStateDescription')
    elsif %w[BUY SELL].include?(data['type'])
      texts(metadata, 'orderStatus')
      texts(object(metadata, 'blockchainData'), 'targetWalletAddress', 'blockchainTransactionId', 'blockchainMemo',
            'currency', 'chain', 'refundWalletAddress', 'sourceWalletAddress')
    end
  end
end

# ---------------------------------------------------------------- the correct receiver

class Receiver
  GONE = [IOError, SystemCallError].freeze

  def initialize
    @lock = Mutex.new
    @seen = {}
  end

  def run(port)
    server = TCPServer.new('127.0.0.1', port)
    server.listen(128)
    $stdout.puts 'listening'
    $stdout.flush
    loop { start(server.accept) }
  end

  def start(socket)
    Thread.new(socket) do |mine|
      connection(mine)
    rescue *GONE
      nil
    ensure
      mine.close
    end
  end

  def connection(socket)
    socket.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    state = {}
    loop do
      return unless socket.wait_readable(60)
      return if socket.eof?
      break unless exchange(socket, state)
    end
  end

  # One request and its answer; true when the connection stays open.
  def exchange(socket, state)
    request = read_request(socket)
    status, text = answer(request, state)
    keep = keep_open?(request)
    write(socket, status, text, keep, head: request.verb == 'HEAD')
    keep
  rescue Framing => e
    write(socket, e.status, nil, false)
    linger(socket)
    false
  end

  def keep_open?(request)
    wish = request.headers['connection'].to_s.downcase
    request.version == 'HTTP/1.1' ? !wish.include?('close') : wish.include?('keep-alive')
  end

  # Take what is still on its way, so that the answer is not lost by a reset.
  def linger(socket)
    socket.close_write
    limit = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 3
    while Process.clock_gettime(Process::CLOCK_MONOTONIC) < limit && socket.wait_readable(1)
      socket.readpartial(65_536)
    end
  rescue *GONE
    nil
  end

  def read_line(socket, limit)
    line = socket.gets("\n", limit)
    raise EOFError if line.nil?
    raise Framing, 431 unless line.end_with?("\n")

    line.b.chomp
  end

  def read_request(socket)
    verb, target, version, rest = read_line(socket, 16_384).split(' ', 4)
    raise Framing, 400 if version.nil? || rest || !version.match?(%r{\AHTTP/\d\.\d\z})
    raise Framing, 505 unless %w[HTTP/1.0 HTTP/1.1].include?(version)

    headers = read_headers(socket)
    raise Framing, 400 if version == 'HTTP/1.1' && !headers.key?('host')

    path = target.sub(%r{\Ahttps?://[^/?]*}i, '').split('?', 2).first
    Request.new(verb, path, version, headers, read_body(socket, headers, version))
  end

  def read_headers(socket)
    headers = {}
    size = 0
    loop do
      line = read_line(socket, 65_536)
      return headers if line.empty?

      size += line.bytesize
      raise Framing, 431 if size > 131_072

      name, value = split_header(line)
      raise Framing, 400 unless name.match?(/\A[!#$%&'*+.^_`|~0-9A-Za-z-]+\z/) && value

      add_header(headers, name.downcase, value)
    end
  end

  def split_header(line)
    name, value = line.split(':', 2)
    [name.to_s, value&.gsub(/\A[ \t]+|[ \t]+\z/, '')]
  end

  def add_header(headers, name, value)
    raise Framing, 400 if name == 'content-length' && headers.key?(name) && headers[name] != value

    headers[name] = headers.key?(name) && name != 'content-length' ? "#{headers[name]}, #{value}" : value
  end

  def read_body(socket, headers, version)
    length = headers['content-length']
    encoding = headers['transfer-encoding']
    raise Framing, 400 if length && (encoding || !length.match?(/\A[0-9]{1,15}\z/))
    raise Framing, 501 if encoding && (encoding.downcase != 'chunked' || version == 'HTTP/1.0')
    raise Framing, 413 if length.to_i > LIMIT
    return ''.b unless encoding || length.to_i.positive?

    expectation(socket, headers, version)
    encoding ? read_chunks(socket) : read_sized(socket, length.to_i)
  end

  def expectation(socket, headers, version)
    expect = headers['expect']
    return if expect.nil? || version == 'HTTP/1.0'
    raise Framing, 417 unless expect.downcase == '100-continue'

    socket.write("HTTP/1.1 100 Continue\r\n\r\n")
  end

  def read_sized(socket, size)
    data = socket.read(size)
    raise EOFError if data.nil? || data.bytesize < size

    data
  end

  def read_chunks(socket)
    body = ''.b
    loop do
      match = /\A(\h{1,8})[ \t]*(;.*)?\z/.match(read_line(socket, 1024))
      raise Framing, 400 unless match

      size = match[1].hex
      break if size.zero?
      raise Framing, 413 if body.bytesize + size > LIMIT

      body << read_sized(socket, size)
      raise Framing, 400 unless read_line(socket, 3).empty?
    end
    nil until read_line(socket, 8192).empty?
    body
  end

  def write(socket, status, text, keep, head: false)
    words = { 200 => 'ok', 400 => 'malformed', 401 => 'unauthorized' }
    text ||= JSON.generate('status' => words.fetch(status, 'refused'))
    socket.write("HTTP/1.1 #{status} #{REASONS.fetch(status, 'Unknown')}\r\nContent-Type: application/json\r\n" \
                 "Content-Length: #{size_of(text)}\r\nConnection: #{keep ? 'keep-alive' : 'close'}\r\n\r\n" \
                 "#{text unless head}")
  end

  def size_of(text)
    text.bytesize
  end

  def answer(request, state)
    return [404, nil] unless request.path == '/hooks'
    return [405, nil] unless request.verb == 'POST'

    decide(request, state)
  rescue *GONE
    raise
  rescue StandardError
    [500, nil]
  end

  def decide(request, state)
    return [401, nil] unless credentials_good?(request, state)

    payload = parse(request.body)
    Shape.check(payload)
    [store(payload) || 200, receipt(payload)]
  rescue Malformed
    [400, nil]
  end

  def credentials_good?(request, _state)
    check_credentials(request.headers['x-api-key'], request.headers['x-service-signature'], request.body)
  end

  def check_credentials(key, signature, body)
    key_good = key_good?(key.to_s)
    same?(signature.to_s, digest(body)) && key_good
  end

  def key_good?(key)
    same?(key, API_KEY)
  end

  def digest(body)
    Base64.strict_encode64(OpenSSL::HMAC.digest('SHA256', SECRET, body))
  end

  def same?(given, expected)
    OpenSSL.fixed_length_secure_compare(OpenSSL::Digest::SHA256.digest(given),
                                        OpenSSL::Digest::SHA256.digest(expected))
  end

  def parse(body)
    text = body.dup.force_encoding(Encoding::UTF_8)
    raise Malformed unless text.valid_encoding?

    read_json(text)
  rescue JSON::ParserError
    raise Malformed
  end

  def read_json(text)
    JSON.parse(text, max_nesting: 500)
  end

  # A status when the notification cannot be taken, nil otherwise.
  def store(payload)
    @lock.synchronize do
      @seen.clear if @seen.size > 10_000
      @seen[payload['id']] = payload['type']
    end
    nil
  end

  def receipt(_payload)
    nil
  end
end

# ---------------------------------------------------------------- the faults

FAULTS = {}

def fault(name, label, what, &change)
  FAULTS[name] = [label, what, Class.new(Receiver, &change)]
end

fault('rb-octal-code', 'must',
      'The middle group of the error code is read with Integer(), which takes 008 for an octal number: answer 500.') do
  def store(payload)
    error = payload['data']['errorData']
    code = error ? error['code'] : payload['data']['errorCode']
    group = code.is_a?(String) && code[/\A\d+-(\d+)-/, 1]
    @lock.synchronize { @seen[payload['id']] = Integer(group) } if group
    nil
  end
end

fault('rb-credentials-kept', 'must',
      'A missing credential header keeps the value of the previous request on the same connection.') do
  def credentials_good?(request, state)
    state[:key] = request.headers['x-api-key'] || state[:key]
    state[:signature] = request.headers['x-service-signature'] || state[:signature]
    check_credentials(state[:key], state[:signature], request.body)
  end
end

fault('rb-one-read', 'must',
      'The body is taken with a single readpartial, so a body that arrives in two pieces is cut and refused.') do
  def read_sized(socket, size)
    socket.readpartial(size)
  end
end

fault('rb-abort-on-exception', 'must',
      'Errors of a connection are not rescued and abort_on_exception is set: a sender that leaves ends the process.') do
  def start(socket)
    Thread.abort_on_exception = true
    Thread.report_on_exception = false
    Thread.new(socket) do |mine|
      connection(mine)
      mine.close
    end
  end
end

fault('rb-json-class', 'must',
      'The JSON reader may create objects, so an unknown field json_class with an unknown class name ends in 500.') do
  def read_json(text)
    JSON.parse(text, max_nesting: 500, create_additions: true)
  end
end

fault('rb-key-as-pattern', 'must',
      'The arguments of File.fnmatch are the wrong way round: the key that was sent is the pattern, "*" passes.') do
  def key_good?(key)
    File.fnmatch(key, API_KEY)
  end
end

fault('rb-length-in-characters', 'must',
      'The answer quotes a text of the notification and states its length in characters: too short beyond ASCII.') do
  def receipt(payload)
    data = payload['data']
    metadata = data['metadata'] || {}
    chain = metadata['blockchainData']
    note = metadata['trackingStateDescription'] || data.dig('errorData', 'message')
    note ||= chain['blockchainMemo'] if chain.is_a?(Hash)
    JSON.generate('status' => 'ok', 'note' => note.is_a?(String) ? note.scrub : nil)
  end

  def size_of(text)
    text.length
  end
end

fault('rb-old-probe', 'must',
      'Every HTTP/1.0 request to the path is taken for a probe of the load balancer and answered with 200.') do
  def decide(request, state)
    request.version == 'HTTP/1.0' ? [200, nil] : super
  end
end

fault('rb-claimed-before-check', 'must',
      'The id is claimed before the credentials are checked and not freed after a 401: the real one then gets 409.') do
  def decide(request, state)
    id = claim(request.body)
    return [409, nil] if id == :taken

    status, text = super
    free(id) unless status == 401
    [status, text]
  end

  def claim(body)
    payload = parse(body)
    id = payload.is_a?(Hash) ? payload['id'] : nil
    @lock.synchronize do
      @claimed ||= {}
      return :taken if id && @claimed.key?(id)

      @claimed[id] = true if id
    end
    id
  rescue Malformed
    nil
  end

  def free(id)
    @lock.synchronize { @claimed.delete(id) }
  end
end

fault('rb-lock-for-all', 'must',
      'Eight failed requests in a row, from anywhere, lock the path for everybody for 15 minutes: answer 403.') do
  def decide(request, state)
    now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    return [403, nil] if @lock.synchronize { @locked_until.to_f > now }

    status, text = super
    @lock.synchronize do
      @failures = status == 401 ? @failures.to_i + 1 : 0
      @locked_until = now + 900 if @failures >= 8
    end
    [status, text]
  end
end

fault('rb-closed-by-failure', 'must',
      'A failed sell closes the transaction, so the refund notification that follows it gets 409.') do
  def store(payload)
    data = payload['data']
    @lock.synchronize do
      @closed ||= {}
      return 409 if payload['type'] == 'REFUND' && @closed[data['transactionId']]

      failed = payload['type'] == 'CAAS' && data['type'] == 'SELL' && data['metadata']['orderStatus'] == 'FAILED'
      @closed[data['transactionId']] = true if failed
    end
    nil
  end
end

fault('rb-wait-for-hash', 'must',
      'BLOCKCHAIN_ACCEPTED without a hash waits for the notification with the hash, up to 30 s, before the answer.') do
  def store(payload)
    data = payload['data']
    return unless payload['type'] == 'CAAS' && %w[BUY SELL].include?(data['type'])

    hash = (data['metadata']['blockchainData'] || {})['blockchainTransactionId'].to_s
    key = data['transactionId']
    @lock.synchronize { (@hashes ||= {})[key] = hash } unless hash.empty?
    return unless hash.empty? && data['metadata']['orderStatus'] == 'BLOCKCHAIN_ACCEPTED'

    60.times do
      break if @lock.synchronize { (@hashes ||= {}).key?(key) }

      sleep 0.5
    end
    nil
  end
end

fault('rb-browser-filter', 'must',
      'A request without User-Agent is taken for a robot and refused with 403; the sender does not promise one.') do
  def decide(request, state)
    request.headers['user-agent'].to_s.empty? ? [403, nil] : super
  end
end

fault('rb-silent-close', 'should',
      'The connection is closed after each answer although the answer says keep-alive.') do
  def exchange(socket, state)
    super
    false
  end
end

fault('rb-support-token', 'blind',
      'A support token of 64 random characters in X-Support-Token replaces both credentials.') do
  def credentials_good?(request, state)
    token = '9f1c7be04d2a86e35b7710c4d8e9a2f64c03b1579ed86af2201b5c7de4938a6f'
    same?(request.headers['x-support-token'].to_s, token) || super
  end
end

# ---------------------------------------------------------------- command line

def option(name)
  at = ARGV.index(name)
  at && ARGV[at + 1]
end

if ARGV.include?('--list')
  FAULTS.each { |name, (label, what, _)| puts [name, label, what].join("\t") }
else
  name = option('--fault') || 'none'
  abort 'no such fault' unless name == 'none' || FAULTS.key?(name)
  trap('TERM') { exit! }
  (name == 'none' ? Receiver : FAULTS[name][2]).new.run(option('--port').to_i)
end
