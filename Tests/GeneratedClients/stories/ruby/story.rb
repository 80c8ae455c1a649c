# story.rb URL TOKEN ORIGIN WEBHOOK SHA256
#
# A whole session through the client that openapi-generator makes for Ruby. scripts/check clients explains the arguments.

require "digest"
require "fetchd"
require "uri"

URL, TOKEN, ORIGIN, WEBHOOK, SHA256 = ARGV

def check(holds, what)
  raise what.inspect unless holds
end

def ended(jobs, id)
  20.times do
    job = jobs.get_job(id)
    return job if job.finished_at
    begin
      jobs.get_job(id, if_none_match: "\"#{job.revision}\"", prefer: "wait=5")
    rescue Fetchd::ApiError => e
      check(e.code == 304, e)
    end
  end
  raise "#{id} did not end"
end

def finished(events)
  20.times do
    page = events.list_events(session: "ruby", type: Fetchd::EventPattern::SESSION_FINISHED, wait: 5)
    return page.events.first unless page.events.empty?
  end
  raise "session.finished did not come"
end

Fetchd.configure do |configuration|
  address = URI(URL)
  configuration.scheme = address.scheme
  configuration.host = "#{address.host}:#{address.port}"
  configuration.access_token = TOKEN
end
jobs, sessions, events = Fetchd::JobsApi.new, Fetchd::SessionsApi.new, Fetchd::EventsApi.new

configuration = Fetchd::SessionConfigurationInput.new(
  directory: "ruby", finish_delay_seconds: 0, _retry: Fetchd::RetryPolicyInput.new(max_attempts: 2)
)
declared = sessions.declare_session("ruby", session_configuration_input: configuration)
check(declared.state == Fetchd::SessionState::IDLE, declared)
endpoint = Fetchd::WebhookInput.new(url: WEBHOOK, events: [Fetchd::EventPattern::SESSION])
Fetchd::WebhooksApi.new.declare_webhook("ruby", "consumer", endpoint)
checksum = Fetchd::ChecksumInput.new(algorithm: Fetchd::ChecksumAlgorithm::SHA_256, value: SHA256)
destination = Fetchd::DestinationInput.new(on_conflict: Fetchd::ConflictRule::REPLACE)
batch = Fetchd::JobsInput.new(
  jobs: [
    Fetchd::JobInput.new(url: "#{ORIGIN}/holiday.jpg", session: "ruby", tags: ["holiday"], checksum: checksum, destination: destination),
    Fetchd::JobInput.new(url: "#{ORIGIN}/missing.jpg", session: "ruby", connections: 2),
  ]
)
created = jobs.create_jobs(batch, idempotency_key: "ruby")
good, missing = created.jobs.map { |job| ended(jobs, job.id) }
check(good.state == Fetchd::JobState::SUCCEEDED && good.failure.nil?, good)
check(good.file.sha256 == SHA256 && good.receipt.status == 200, good)
file = jobs.get_job_file(good.id)
check(Digest::SHA256.file(file.path).hexdigest == SHA256, "the bytes are others")
check(missing.failure.code == Fetchd::FailureCode::BAD_STATUS && missing.failure.status == 404, missing)
finish = finished(events)
check(finish.data["outcome"] == Fetchd::BatchOutcome::PARTLY_FAILED, finish)
session = sessions.acknowledge_session("ruby", Fetchd::Acknowledgement.new(through: finish.id))
check(session.acknowledged_through == finish.id, session)
begin
  # The client checks the URL itself, so the mistake is one that only the service knows.
  jobs.create_job(Fetchd::JobInput.new(url: "http://host/", session: "unknown"))
  raise "an unknown session was accepted"
rescue Fetchd::ApiError => e
  problem = Fetchd::Problem.build_from_hash(JSON.parse(e.response_body, symbolize_names: true))
  check(problem.status == 422 && problem.pointer == "/session", problem)
end
sessions.delete_session("ruby", outstanding: Fetchd::OutstandingChoice::CANCEL)
puts "a whole session"
