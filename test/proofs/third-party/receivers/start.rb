# What every receiver in Ruby is started with: `--port N`, and secret and key from the environment.
require 'base64'
require 'openssl'

PORT = ARGV[ARGV.index('--port') + 1].to_i
SECRET = ENV.fetch('RECEIVER_SECRET')
ARGV.clear
