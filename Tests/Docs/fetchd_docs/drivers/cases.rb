# frozen_string_literal: true

# Asks receiver.rb about each request on standard input.

require 'json'
require "#{ARGV.shift}/receiver"

$stdin.each_line do |line|
  given = JSON.parse(line)
  fields = %w[secret id timestamp signatures].map { |name| given[name] }
  puts Webhook.genuine?(*fields, given['body'].unpack1('m'), Time.at(given['now']))
end
