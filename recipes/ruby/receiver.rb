# frozen_string_literal: true

# Receives signed notifications with Rack: verifies the raw body, appends it to a journal on disk, and answers 200.
#
# Start it with `bundle install` once and `ruby receiver.rb` (Ruby 3.0 or later). Environment: WEBHOOK_SECRET
# and WEBHOOK_API_KEY (at least one of them; the other check is off), PORT (3000), HOST (127.0.0.1), WEBHOOK_JOURNAL
# (journal.ndjson).
# Run one process only: the known ids are in memory. For several, use a database with a unique key on the id.
#
# Puma writes a body to disk before the application receives it: Puma 8 up to MAX_BODY_BYTES, Puma 6.1 and 7 chunked
# bodies of any size, Puma 5 all bodies of any size. Before Puma 8, put nginx in front with `client_max_body_size 1m;
# proxy_request_buffering on`, and TMPDIR on a different disk from the journal. Puma also has no limit on connections.

require 'openssl'
require 'puma'
require 'puma/configuration'
require 'puma/launcher'
require_relative 'journal'

# The Rack application.
class Receiver
  MAX_BODY_BYTES = 1024 * 1024

  def initialize(secrets, api_key, journal)
    @secrets, @api_key, @journal = secrets, api_key, journal
  end

  def call(env)
    return answer(404, 'not found') unless env['PATH_INFO'] == '/hooks'
    return answer(405, 'method not allowed', 'allow' => 'POST') unless env['REQUEST_METHOD'] == 'POST'

    # Reads exactly this many bytes, because Puma 5 leaves the rest of the packet in the body.
    length = env.fetch('CONTENT_LENGTH', MAX_BODY_BYTES + 1).to_i
    return answer(413, 'body too large') if length > MAX_BODY_BYTES

    body = env['rack.input'].read(length)
    return answer(401, 'unauthorized') unless authentic?(env, body)
    return answer(400, 'not a notification') unless (id = notification_id(body))

    @journal.store(id, body)
    answer(200, 'ok')
  rescue SystemCallError => e
    warn e.message
    answer(503, 'not stored') # The sender can deliver it again.
  end

  private

  def authentic?(env, body)
    signatures = @secrets.map { |secret| [OpenSSL::HMAC.digest('SHA256', secret, body)].pack('m0') }
    matches = signatures.map { |signature| same?(env['HTTP_X_SERVICE_SIGNATURE'], signature) }
    (@secrets.empty? || matches.any?) && (@api_key.empty? || same?(env['HTTP_X_API_KEY'], @api_key))
  end

  # Compares in constant time, whatever the lengths. Puma joins repeated headers with a comma, so they never match.
  def same?(received, expected)
    OpenSSL.secure_compare(received.to_s.strip, expected)
  end

  # Returns the id; nil when the body is not a notification. Unknown types and fields are accepted.
  def notification_id(body)
    notification = StrictJSON.parse(body)
    return unless notification.is_a?(Hash)
    return unless notification.values_at('id', 'type', 'data') in [String => id, String, Hash]

    # An unpaired surrogate has no valid encoding.
    id if id.valid_encoding? && id.match?(/\A[^[:cntrl:]]{1,200}\z/)
  rescue JSON::ParserError
    nil
  end

  def answer(status, text, headers = {})
    [status, { 'content-type' => 'text/plain', **headers }, ["#{text}\n"]]
  end
end

# During a rotation, the previous secret is also valid.
secrets = [ENV['WEBHOOK_SECRET'], ENV['WEBHOOK_PREVIOUS_SECRET']].reject { |secret| secret.to_s.empty? }
api_key = ENV.fetch('WEBHOOK_API_KEY', '')
if secrets.empty? && api_key.empty?
  abort 'Set WEBHOOK_SECRET, WEBHOOK_API_KEY or both: without them anyone could post notifications.'
end
host, port = ENV.fetch('HOST', '127.0.0.1'), ENV.fetch('PORT', '3000')
configuration = Puma::Configuration.new do |puma|
  puma.app Receiver.new(secrets, api_key, Journal.new(ENV.fetch('WEBHOOK_JOURNAL', 'journal.ndjson')))
  puma.bind "tcp://#{host}:#{port}"
  puma.http_content_length_limit Receiver::MAX_BODY_BYTES if puma.respond_to?(:http_content_length_limit)
  puma.environment 'production' # In development, Puma's error pages show stack traces.
end
launcher = Puma::Launcher.new(configuration)
booted = launcher.events.respond_to?(:after_booted) ? :after_booted : :on_booted # before Puma 7
launcher.events.public_send(booted) { puts "listening on http://#{host}:#{port}/hooks" }
launcher.run
