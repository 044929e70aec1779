# frozen_string_literal: true

# Receives signed notifications with Rails: verifies the raw body, appends it to a journal on disk, and answers 200.
#
# Start it with `bundle install` once and `RUBY_GC_MALLOC_LIMIT_MAX=16000000 ruby receiver.rb` (Ruby 3.0, Rails 6.1 or
# later; the limit makes Ruby free the memory of large bodies sooner). Environment: WEBHOOK_SECRET and
# WEBHOOK_API_KEY (at least one of them; the other check is off), PORT (3000), HOST (127.0.0.1), WEBHOOK_JOURNAL
# (journal.ndjson).
# In your own application, copy journal.rb, the controller and its route, and leave out the rest.
# Run one process only: the known ids are in memory. For several, use a database with a unique key on the id.
#
# Puma writes a body to disk before the application receives it: Puma 8 up to MAX_BODY_BYTES, Puma 6.1 and 7 chunked
# bodies of any size, Puma 5 all bodies of any size. Before Puma 8, put nginx in front with `client_max_body_size 1m;
# proxy_request_buffering on`, and TMPDIR on a different disk from the journal. Puma also has no limit on connections.

ENV['RAILS_ENV'] ||= 'production' # In development, Rails shows its routes and traces to anyone.
require 'action_controller/railtie'
require 'openssl'
require 'puma'
require 'puma/configuration'
require 'puma/launcher'
require_relative 'journal'

# Uses Metal, because ActionController::API parses the body for its log before the action has verified it.
class HooksController < ActionController::Metal
  MAX_BODY_BYTES = 1024 * 1024
  # During a rotation, the previous secret is also valid.
  SECRETS = [ENV['WEBHOOK_SECRET'], ENV['WEBHOOK_PREVIOUS_SECRET']].reject { |secret| secret.to_s.empty? }
  API_KEY = ENV.fetch('WEBHOOK_API_KEY', '')
  JOURNAL = Journal.new(ENV.fetch('WEBHOOK_JOURNAL', 'journal.ndjson'))

  def create
    # Reads exactly this many bytes, because Puma 5 leaves the rest of the packet in the body.
    length = request.headers.fetch('Content-Length', MAX_BODY_BYTES + 1).to_i
    return answer(413) if length > MAX_BODY_BYTES

    body = request.body.read(length)
    return answer(401) unless authentic?(body)
    return answer(400) unless (id = notification_id(body))

    JOURNAL.store(id, body)
    answer(200)
  rescue SystemCallError => e
    Rails.logger.error(e.message)
    answer(503) # The sender can deliver it again.
  end

  private

  def authentic?(body)
    signatures = SECRETS.map { |secret| [OpenSSL::HMAC.digest('SHA256', secret, body)].pack('m0') }
    matches = signatures.map { |signature| same?(request.headers['X-Service-Signature'], signature) }
    (SECRETS.empty? || matches.any?) && (API_KEY.empty? || same?(request.headers['X-API-Key'], API_KEY))
  end

  # Compares in constant time, whatever the lengths. Puma joins repeated headers with a comma, so they never match.
  def same?(received, expected)
    ActiveSupport::SecurityUtils.secure_compare(received.to_s.strip, expected)
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

  def answer(status)
    self.status = status
    self.content_type = 'text/plain'
    self.response_body = "#{Rack::Utils::HTTP_STATUS_CODES[status]}\n"
  end
end

if HooksController::SECRETS.empty? && HooksController::API_KEY.empty?
  abort 'Set WEBHOOK_SECRET, WEBHOOK_API_KEY or both: without them anyone could post notifications.'
end

class Application < Rails::Application
  config.load_defaults 6.1
  config.api_only = true
  config.eager_load = true
  config.secret_key_base = SecureRandom.hex(64)
  config.logger = Logger.new($stderr)
  config.log_level = :warn
  routes.append do
    post '/hooks', to: 'hooks#create'
    match '/hooks', via: :all, to: ->(_env) { [405, { 'allow' => 'POST' }, []] }
    match '*path', via: :all, to: ->(_env) { [404, {}, []] }
  end
end

host, port = ENV.fetch('HOST', '127.0.0.1'), ENV.fetch('PORT', '3000')
configuration = Puma::Configuration.new do |puma|
  puma.app Application.initialize!
  puma.bind "tcp://#{host}:#{port}"
  puma.http_content_length_limit HooksController::MAX_BODY_BYTES if puma.respond_to?(:http_content_length_limit)
  puma.environment 'production' # In development, Puma's error pages show stack traces.
end
launcher = Puma::Launcher.new(configuration)
booted = launcher.events.respond_to?(:after_booted) ? :after_booted : :on_booted # before Puma 7
launcher.events.public_send(booted) { puts "listening on http://#{host}:#{port}/hooks" }
launcher.run
