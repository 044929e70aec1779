require_relative 'start'
require 'json'
require 'rack'
require 'rack/handler/webrick'

app = lambda do |env|
  request = Rack::Request.new(env)
  return [404, {}, []] unless request.post? && request.path == '/hooks'

  payload = request.body.read
  signature = Base64.strict_encode64(OpenSSL::HMAC.digest('sha256', SECRET, payload))
  given = request.get_header('HTTP_X_SERVICE_SIGNATURE').to_s
  return [401, {}, ['signatures do not match']] unless Rack::Utils.secure_compare(signature, given)

  notification = JSON.parse(payload)
  [200, { 'Content-Type' => 'text/plain' }, [notification['id']]]
end

Rack::Handler::WEBrick.run(app, Host: '127.0.0.1', Port: PORT, Logger: WEBrick::Log.new(File::NULL), AccessLog: [])
