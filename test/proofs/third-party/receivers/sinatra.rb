require_relative 'start'
require 'json'
require 'sinatra'

set :port, PORT
set :bind, '127.0.0.1'
set :server, 'puma'
set :environment, :production
set :logging, false

helpers do
  def verify_webhook(data, hmac_header)
    calculated_hmac = Base64.strict_encode64(OpenSSL::HMAC.digest('sha256', SECRET, data))
    Rack::Utils.secure_compare(calculated_hmac, hmac_header)
  end
end

post '/hooks' do
  request.body.rewind
  data = request.body.read
  halt 401 unless verify_webhook(data, env['HTTP_X_SERVICE_SIGNATURE'])
  status 200
end
