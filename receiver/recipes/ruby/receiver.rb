# frozen_string_literal: true

# Receives signed notifications with Rack: verifies the raw body, appends it to a journal on disk, answers 200.
#
# Start it with `bundle install` once and `ruby receiver.rb` (Ruby 3.0 or later). Environment: WEBHOOK_SECRET
# and WEBHOOK_API_KEY (at least one of them; the other check is off), PORT (3000), HOST (127.0.0.1), WEBHOOK_JOURNAL
# (journal.ndjson).
# One process only: the known ids are in memory. For several, use a database with a unique key on the id.

require 'json'
require 'openssl'
require 'puma'
require 'puma/configuration'
require 'puma/launcher'
require 'time'

# A file with one line of JSON per notification, each of them on disk before `store` returns.
class Journal
  def initialize(path)
    @file = File.open(path, File::RDWR | File::CREAT | File::BINARY, 0o600)
    lines = @file.read.force_encoding(Encoding::UTF_8).lines
    # A last line without its end was being written when the process was killed.
    lines.pop unless lines.empty? || lines.last.end_with?("\n")
    @ids = lines.to_h { |line| [JSON.parse(line).fetch('id'), true] }
    @size = lines.sum(&:bytesize)
    @file.truncate(@size)
    @file.fsync
    @file.sync = true # A line that failed must not stay in a buffer and be written later.
    @mutex = Mutex.new
  end

  # Raises SystemCallError when the notification cannot be stored. A copy adds no line.
  def store(id, body)
    line = "#{JSON.generate(id: id, receivedAt: Time.now.utc.iso8601(3), body: body)}\n"
    @mutex.synchronize do
      next if @ids.key?(id)

      append(line)
      @ids[id] = true
    end
  end

  private

  def append(line)
    @file.seek(@size)
    @file.write(line)
    @file.fsync
    @size += line.bytesize
  rescue SystemCallError
    @file.truncate(@size)
    raise
  end
end

# The Rack application.
class Receiver
  MAX_BODY_BYTES = 1024 * 1024

  def initialize(secret, api_key, journal)
    @secret, @api_key, @journal = secret, api_key, journal
  end

  def call(env)
    return answer(404, 'not found') unless env['PATH_INFO'] == '/hooks'
    return answer(405, 'method not allowed', 'allow' => 'POST') unless env['REQUEST_METHOD'] == 'POST'

    # Exactly so many bytes: Puma 5 leaves what follows them in the same packet in the body.
    length = env.fetch('CONTENT_LENGTH', MAX_BODY_BYTES + 1).to_i
    return answer(413, 'body too large') if length > MAX_BODY_BYTES

    body = env['rack.input'].read(length)
    return answer(401, 'unauthorized') unless authentic?(env, body)
    return answer(400, 'not a notification') unless (id = notification_id(body))

    @journal.store(id, body)
    answer(200, 'ok')
  rescue SystemCallError => e
    warn e.message
    answer(503, 'not stored') # The sender may deliver it again.
  end

  private

  def authentic?(env, body)
    signature = [OpenSSL::HMAC.digest('SHA256', @secret, body)].pack('m0')
    signed = @secret.empty? || same?(env['HTTP_X_SERVICE_SIGNATURE'], signature)
    signed && (@api_key.empty? || same?(env['HTTP_X_API_KEY'], @api_key))
  end

  # In constant time, whatever the lengths. Puma joins repeated headers with a comma, so they never match.
  def same?(received, expected)
    OpenSSL.secure_compare(received.to_s.strip, expected)
  end

  # The id of a notification; nil when the body is not one. Unknown types and fields are accepted.
  def notification_id(body)
    return unless body.force_encoding(Encoding::UTF_8).valid_encoding?

    notification = JSON.parse(body, symbolize_names: true)
    return unless notification in { id: String => id, type: String, data: Hash }

    id if id.match?(/\A[^[:cntrl:]]{1,200}\z/)
  rescue JSON::ParserError
    nil
  end

  def answer(status, text, headers = {})
    [status, { 'content-type' => 'text/plain', **headers }, ["#{text}\n"]]
  end
end

secret, api_key = ENV.fetch('WEBHOOK_SECRET', ''), ENV.fetch('WEBHOOK_API_KEY', '')
if secret.empty? && api_key.empty?
  abort 'Set WEBHOOK_SECRET, WEBHOOK_API_KEY or both: without them anyone could post notifications.'
end
host, port = ENV.fetch('HOST', '127.0.0.1'), ENV.fetch('PORT', '3000')
configuration = Puma::Configuration.new do |puma|
  puma.app Receiver.new(secret, api_key, Journal.new(ENV.fetch('WEBHOOK_JOURNAL', 'journal.ndjson')))
  puma.bind "tcp://#{host}:#{port}"
  puma.environment 'production' # In development, Puma's error pages show stack traces.
end
launcher = Puma::Launcher.new(configuration)
launcher.events.on_booted { puts "listening on http://#{host}:#{port}/hooks" }
launcher.run
