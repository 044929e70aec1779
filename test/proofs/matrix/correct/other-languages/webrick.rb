# A right receiver on WEBrick. HOOKPROOF_SECRET and HOOKPROOF_API_KEY are in the environment; prints its port.
require 'json'
require 'openssl'
require 'webrick'

SECRET = ENV.fetch('HOOKPROOF_SECRET')
API_KEY = ENV.fetch('HOOKPROOF_API_KEY')

class Receiver < WEBrick::HTTPServlet::AbstractServlet
  def do_POST(request, response)
    response.status = length?(request) ? status(request) : 400
    response.body = 'done'
  end

  private

  # HTTP tells servers to refuse other lengths, and WEBrick does not.
  def length?(request)
    request.header['content-length'].size < 2 && request.header['content-length'].all?(/\A\d+\z/)
  end

  def status(request)
    body = request.body || ''
    due = [OpenSSL::HMAC.digest('SHA256', SECRET, body)].pack('m0')
    signed = OpenSSL.secure_compare(request['X-Service-Signature'] || '', due)
    keyed = OpenSSL.secure_compare(request['X-API-Key'] || '', API_KEY)
    return 401 unless signed && keyed

    notification = JSON.parse(body.dup.force_encoding('UTF-8'), max_nesting: 1000)
    notification.is_a?(Hash) && notification['id'].is_a?(String) ? 200 : 400
  rescue JSON::ParserError, EncodingError
    400
  end
end

nothing = WEBrick::Log.new(File::NULL)
server = WEBrick::HTTPServer.new(BindAddress: '127.0.0.1', Port: 0, Logger: nothing, AccessLog: [])
server.mount('/hooks', Receiver)
$stdout.puts(server.listeners.first.addr[1])
$stdout.flush
server.start
