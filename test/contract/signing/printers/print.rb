# Prints the forms of Ruby of each body on standard input (a JSON list), in base64, as one JSON list of lists.
require 'base64'
require 'cgi'
require 'json'

def forms(body)
  value = JSON.parse(body)
  [value.inspect, body.inspect, body.bytes.inspect, Base64.encode64(body), CGI.escapeHTML(body), CGI.escape(body)]
end

bodies = JSON.parse($stdin.read)
puts JSON.generate(bodies.map { |body| forms(body).map { |form| Base64.strict_encode64(form) } })
