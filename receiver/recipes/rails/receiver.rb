# frozen_string_literal: true

# Receives signed notifications with Rails: verifies the raw body, appends it to a journal on disk, answers 200.
#
# Start it with `bundle install` once and `ruby receiver.rb` (Ruby 3.0, Rails 6.1 or later). Environment: WEBHOOK_SECRET
# and WEBHOOK_API_KEY (at least one of them; the other check is off), PORT (3000), HOST (127.0.0.1), WEBHOOK_JOURNAL
# (journal.ndjson).
# In an application of yours: copy the journal, the controller and its route, and leave out the rest.
# One process only: the known ids are in memory. For several, use a database with a unique key on the id.

ENV['RAILS_ENV'] ||= 'production' # In development, Rails shows its routes and traces to anyone.
require 'action_controller/railtie'
require 'openssl'
require 'puma'
require 'puma/configuration'
require 'puma/launcher'

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

# Metal, because ActionController::API parses the body for its log before the action has verified it.
class HooksController < ActionController::Metal
  MAX_BODY_BYTES = 1024 * 1024
  SECRET, API_KEY = ENV.fetch('WEBHOOK_SECRET', ''), ENV.fetch('WEBHOOK_API_KEY', '')
  JOURNAL = Journal.new(ENV.fetch('WEBHOOK_JOURNAL', 'journal.ndjson'))

  def create
    # Exactly so many bytes: Puma 5 leaves what follows them in the same packet in the body.
    length = request.headers.fetch('Content-Length', MAX_BODY_BYTES + 1).to_i
    return answer(413) if length > MAX_BODY_BYTES

    body = request.body.read(length)
    return answer(401) unless authentic?(body)
    return answer(400) unless (id = notification_id(body))

    JOURNAL.store(id, body)
    answer(200)
  rescue SystemCallError => e
    Rails.logger.error(e.message)
    answer(503) # The sender may deliver it again.
  end

  private

  def authentic?(body)
    signature = [OpenSSL::HMAC.digest('SHA256', SECRET, body)].pack('m0')
    signed = SECRET.empty? || same?(request.headers['X-Service-Signature'], signature)
    signed && (API_KEY.empty? || same?(request.headers['X-API-Key'], API_KEY))
  end

  # In constant time, whatever the lengths. Puma joins repeated headers with a comma, so they never match.
  def same?(received, expected)
    ActiveSupport::SecurityUtils.secure_compare(received.to_s.strip, expected)
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

  def answer(status)
    self.status = status
    self.content_type = 'text/plain'
    self.response_body = "#{Rack::Utils::HTTP_STATUS_CODES[status]}\n"
  end
end

if HooksController::SECRET.empty? && HooksController::API_KEY.empty?
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
  puma.environment 'production' # In development, Puma's error pages show stack traces.
end
launcher = Puma::Launcher.new(configuration)
launcher.events.on_booted { puts "listening on http://#{host}:#{port}/hooks" }
launcher.run
