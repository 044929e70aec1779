# frozen_string_literal: true

# The effects window, for test environments only: what the receiver stored, by its journal. `ruby effects.rb`
# Environment: WEBHOOK_EFFECTS_TOKEN (16 characters or more), WEBHOOK_EFFECTS_PORT (3001), WEBHOOK_JOURNAL.

require 'json'
require 'openssl'
require 'puma'
require 'puma/configuration'
require 'puma/launcher'
require 'uri'

DECIMALS = { 'BTC' => 8, 'ETH' => 18, 'USDC' => 6, 'GUSD' => 2, 'NEO' => 0 }.freeze
HASH_KEYS = %w[blockchainTransactionId blockchainTransctionId].freeze
# Where `data` has a value: the first place that is filled.
PLACES = {
  status: %w[metadata.orderStatus metadata.providerTransactionStatus status],
  transaction: %w[transactionId partnerTransactionId],
  hash: HASH_KEYS.flat_map { |key| ["metadata.blockchainData.#{key}", "metadata.#{key}"] },
  amount: %w[metadata.asset.amount metadata.amount],
  currency: %w[metadata.asset.currency metadata.currency metadata.blockchainData.currency],
  errorCode: %w[errorData.code errorCode]
}.freeze

def handling(line)
  id, type, data = JSON.parse(JSON.parse(line).fetch('body')).values_at('id', 'type', 'data')
  kind = type == 'CAAS' && filled(data, 'type') ? "CAAS_#{data['type']}" : type
  found = PLACES.transform_values { |places| places.filter_map { |place| filled(data, place) }.first }
  found[:amount] = display_amount(found[:amount], DECIMALS[found[:currency]]) if filled(data, PLACES[:amount].first)
  { notification: id, kind: kind, **found }.compact
end

def filled(data, place)
  value = place.split('.').reduce(data) { |object, key| object[key] if object.is_a?(Hash) }
  value if value.is_a?(String) && !value.empty?
end

# Moves the point in the text: a float would lose digits. An unknown asset, or what is no number, has no amount.
def display_amount(atomic, decimals)
  return unless decimals && atomic.match?(/\A[0-9]+\z/)

  atomic.rjust(decimals + 1, '0').insert(-decimals - 1, '.').sub(/\.?0*\z/, '')
end

def answer(env, token)
  allowed = OpenSSL.secure_compare(env['HTTP_AUTHORIZATION'].to_s, "Bearer #{token}")
  return [401, { error: 'unauthorized' }] unless allowed

  _, name, given = *env['REQUEST_URI'].match(%r{\A/effects\?(notification|transaction)=([^&=]+)\z})
  ids = given.to_s.split(',').map { |id| URI.decode_www_form_component(id.gsub('+', '%2B')) }
  return [400, { error: 'not a query' }] unless env['REQUEST_METHOD'] == 'GET' && ids.size.between?(1, 50)

  path = ENV.fetch('WEBHOOK_JOURNAL', 'journal.ndjson')
  lines = File.exist?(path) ? File.readlines(path, encoding: 'UTF-8') : []
  # What follows the last line is being written.
  all = lines.select { |line| line.end_with?("\n") }.map { |line| handling(line) }
  [200, { total: all.size, handled: all.select { |one| ids.include?(one[name.to_sym]) } }]
rescue ArgumentError
  [400, { error: 'not a query' }]
end

token, port = ENV.fetch('WEBHOOK_EFFECTS_TOKEN', ''), ENV.fetch('WEBHOOK_EFFECTS_PORT', '3001')
abort 'Set WEBHOOK_EFFECTS_TOKEN to 16 characters or more.' if token.size < 16
configuration = Puma::Configuration.new do |puma|
  puma.bind "tcp://127.0.0.1:#{port}"
  puma.environment 'production'
  puma.app do |env|
    status, json = answer(env, token)
    [status, { 'content-type' => 'application/json' }, [JSON.generate(json)]]
  end
end
launcher = Puma::Launcher.new(configuration)
launcher.events.on_booted { puts "effects on http://127.0.0.1:#{port}/effects" }
launcher.run
