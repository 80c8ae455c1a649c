#!/usr/bin/env ruby
# frozen_string_literal: true

# A receiver of fetchd's webhooks in Ruby. It needs only webrick, which Debian installs with Ruby (elsewhere: gem install
# webrick).
#
#     WEBHOOK_SECRET=whsec_... ruby examples/webhooks/receiver.rb 9000
#
# It verifies each request and prints its event. To use it in your program, copy `genuine?`.

require 'json'
require 'openssl'
require 'set'

module Webhook
  # Seconds. Older requests are refused, so that a recorded request cannot be used again later.
  TOLERANCE = 300
  LARGEST_BODY = 1 << 20

  # Whether fetchd has signed this body. id, timestamp and signatures are the values of webhook-id, webhook-timestamp and
  # webhook-signature. body has the unchanged bytes.
  def self.genuine?(secret, id, timestamp, signatures, body, now = Time.now)
    return false unless timestamp.match?(/\A[0-9]{1,11}\z/)
    return false if (now.to_i - timestamp.to_i).abs > TOLERANCE

    key = secret.delete_prefix('whsec_').unpack1('m')
    return false if key.empty?

    content = "#{id}.#{timestamp}.".b + body.b
    expected = "v1,#{[OpenSSL::HMAC.digest('SHA256', key, content)].pack('m0')}"
    # During a rotation, there is one signature for each secret. secure_compare needs the same time for all of them.
    signatures.split(' ').map { |signature| OpenSSL.secure_compare(expected, signature) }.any?
  end
end

if $PROGRAM_NAME == __FILE__
  require 'webrick'

  secret = ENV.fetch('WEBHOOK_SECRET')
  # A table with a unique key in your program: it must survive a restart.
  seen = Set.new
  lock = Mutex.new
  $stdout.sync = true
  server = WEBrick::HTTPServer.new(
    BindAddress: '127.0.0.1', Port: Integer(ARGV[0]), AccessLog: [], Logger: WEBrick::Log.new(File::NULL)
  )
  server.mount_proc('/') do |request, response|
    response.status =
      if request.content_length > Webhook::LARGEST_BODY
        413
      else
        body = request.body.to_s
        id, timestamp, signatures = %w[id timestamp signature].map { |name| request["webhook-#{name}"].to_s }
        if Webhook.genuine?(secret, id, timestamp, signatures, body)
          # fetchd delivers at least once, and repeats the id.
          is_new = lock.synchronize { seen.add?(id) }
          puts "verified #{JSON.parse(body)['type']}" if is_new
          204
        else
          401
        end
      end
  end
  %w[INT TERM].each { |name| trap(name) { server.shutdown } }
  puts "listening on port #{server.listeners.first.addr[1]}"
  server.start
end
