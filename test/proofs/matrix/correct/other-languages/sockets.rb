# A correct receiver on bare sockets, with persistent connections. It prints its port.
# HOOKPROOF_SECRET and HOOKPROOF_API_KEY are in the environment.
require 'digest'
require 'json'
require 'openssl'
require 'socket'

SECRET = ENV.fetch('HOOKPROOF_SECRET')
API_KEY = ENV.fetch('HOOKPROOF_API_KEY')
REASONS = { 200 => 'OK', 400 => 'Bad Request', 401 => 'Unauthorized', 405 => 'Method Not Allowed' }.freeze
HEADER = /\A([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\0\r\n]*?)[ \t]*\r?\n\z/n

class Malformed < StandardError; end

def same?(given, due)
  OpenSSL.fixed_length_secure_compare(Digest::SHA256.digest(given), Digest::SHA256.digest(due))
end

def head(client)
  first = client.gets("\n", 8192)
  return if first.nil?

  headers = Hash.new { |all, name| all[name] = [] }
  while (line = client.gets("\n", 32_768)) != "\r\n"
    raise Malformed if line.nil? || (line = line.b) !~ HEADER

    name, value = line.match(HEADER).captures
    headers[name.downcase] << value
  end
  method, version = first.match(%r{\A([A-Z]+) \S+ HTTP/1\.([01])\r?\n\z}n)&.captures
  raise Malformed if method.nil? || (version == '1' && headers['host'].size != 1)

  [method, headers]
end

def chunks(client)
  body = +''.b
  loop do
    size = client.gets("\n", 100).to_s[/\A(\h{1,7})\s*(;.*)?\r\n\z/, 1]
    raise Malformed if size.nil?

    body << client.read(size.hex)
    raise Malformed if client.gets("\n", 100) != "\r\n"
    return body if size.hex.zero?
  end
end

def body(client, headers)
  lengths = headers['content-length']
  if headers.key?('transfer-encoding')
    raise Malformed if !lengths.empty? || headers['transfer-encoding'] != ['chunked']

    return chunks(client)
  end
  raise Malformed if lengths.size > 1 || lengths.any? { |length| length !~ /\A\d{1,9}\z/ }

  client.read(lengths.first.to_i) || ''
end

def notification?(body)
  value = JSON.parse(body.force_encoding('UTF-8'), max_nesting: 500)
  value.is_a?(Hash) && value['id'].is_a?(String)
rescue JSON::ParserError, EncodingError
  false
end

def status(method, headers, body)
  return 405 if method != 'POST'

  signature, key = %w[x-service-signature x-api-key].map { |name| headers[name].size == 1 ? headers[name].first : '' }
  signed = same?(signature, [OpenSSL::HMAC.digest('SHA256', SECRET, body)].pack('m0'))
  return 401 unless same?(key, API_KEY) && signed

  notification?(body) ? 200 : 400
end

def serve(client)
  while (method, headers = head(client))
    client.write("HTTP/1.1 100 Continue\r\n\r\n") if headers['expect'].first&.downcase == '100-continue'
    code = status(method, headers, body(client, headers))
    client.write("HTTP/1.1 #{code} #{REASONS[code]}\r\nContent-Length: 0\r\n\r\n")
  end
rescue Malformed
  client.write("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
  client.close_write
  client.read
end

server = TCPServer.new('127.0.0.1', 0)
server.listen(128)
$stdout.puts(server.addr[1])
$stdout.flush
loop do
  Thread.new(server.accept) do |client|
    client.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    serve(client)
  rescue SystemCallError, IOError, NoMethodError, TypeError
    nil
  ensure
    client.close
  end
end
