# frozen_string_literal: true

# Prints what the receiver stored, from its journal (WEBHOOK_JOURNAL). For test environments only.
# `ruby effects.rb notification=ID,ID` or `ruby effects.rb transaction=ID`

require 'json'
require 'uri'

DECIMALS = { 'BTC' => 8, 'ETH' => 18, 'USDC' => 6, 'GUSD' => 2, 'NEO' => 0 }.freeze
MAX_DIGITS = 1000 # Amounts with more digits are omitted.

def handling(line)
  id, type, data = JSON.parse(JSON.parse(line).fetch('body')).values_at('id', 'type', 'data')
  at = ->(path) { path.split('.').reduce(data) { |object, key| object[key] if object.is_a?(Hash) } }
  first = ->(*paths) { paths.map(&at).find { |value| value.is_a?(String) && !value.empty? } }
  atomic = first['metadata.asset.amount']
  currency = first['metadata.asset.currency', 'metadata.currency', 'metadata.blockchainData.currency', 'assetId']
  {
    notification: id,
    kind: type == 'CAAS' && first['type'] ? "CAAS_#{data['type']}" : type,
    status: first['metadata.orderStatus', 'metadata.providerTransactionStatus', 'status'],
    transaction: first['transactionId', 'partnerTransactionId'],
    customer: first['customerId', 'accountId'],
    paymentMethod: first['paymentMethodId'],
    address: first['walletAddress'],
    hash: %w[blockchainTransactionId blockchainTransctionId]
      .filter_map { |key| first["metadata.blockchainData.#{key}", "metadata.#{key}"] }.first,
    amount: atomic ? display_amount(atomic, DECIMALS[currency]) : first['metadata.amount'],
    currency: currency,
    errorCode: first['errorData.code', 'errorCode']
  }.compact
end

# Moves the decimal point in the string, because a float would lose digits. An asset without known decimals has no
# amount.
def display_amount(atomic, decimals)
  return unless decimals && atomic.size <= MAX_DIGITS && atomic.match?(/\A[0-9]+\z/)

  atomic.rjust(decimals + 1, '0').insert(-decimals - 1, '.').sub(/\.?0*\z/, '')
end

_, name, given = *ARGV.first.to_s.match(/\A(notification|transaction)=(.+)\z/)
abort 'Give notification=ID,ID or transaction=ID.' unless name
ids = given.split(',').map { |id| URI.decode_www_form_component(id.gsub('+', '%2B')) }
lines = File.readlines(ENV.fetch('WEBHOOK_JOURNAL', 'journal.ndjson'), encoding: 'UTF-8')
# An incomplete last line is still being written.
all = lines.select { |line| line.end_with?("\n") }.map { |line| handling(line) }
puts JSON.generate({ total: all.size, handled: all.select { |one| ids.include?(one[name.to_sym]) } })
